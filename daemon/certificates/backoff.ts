import { backoffMs, jittered } from '#server/work/backoff.ts'

const OWN = { firstMs: 60_000, longestMs: 12 * 3_600_000 }

/** Returns the wait after this many failures in a row: a minute, doubled each time, with jitter. `random` is 0 to 1. */
export function retryMs(failures: number, random?: number): number {
  return jittered(backoffMs(failures, OWN), random)
}

const MAX_RETRY_AFTER_MS = 30 * 24 * 3_600_000

/** Bounds the wait that an authority asks for: not so short that it is asked constantly, and not for years. */
export function boundedRetryAfterMs(retryAfterMs: number): number {
  return Math.min(Math.max(retryAfterMs, OWN.firstMs), MAX_RETRY_AFTER_MS)
}

const OUTAGE = { firstMs: 30_000, longestMs: 30 * 60_000 }
/** A gateway in front of an authority may send Retry-After too, which would hold up all hosts. */
const OUTAGE_MAX_RETRY_AFTER_MS = 24 * 3_600_000

/** Pauses between calls to an authority that is down or limits us, longer each time. `now` is monotonic milliseconds. */
export class OutagePause {
  #until = -Infinity
  #times = 0

  /**
   * Records that it did not answer or refused further requests, with the wait that it asked for, if any. Returns how long
   * it is left alone. Of several failures at the same time the first counts.
   */
  failed(requestedMs: number | null = null, now: number = performance.now()): number {
    if (now >= this.#until) {
      const ownMs = backoffMs(++this.#times, OUTAGE)
      this.#until = now + Math.max(ownMs, Math.min(requestedMs ?? 0, OUTAGE_MAX_RETRY_AFTER_MS))
    }
    return this.#until - now
  }

  answered(): void {
    this.#times = 0
    this.#until = -Infinity
  }

  isOver(now: number = performance.now()): boolean {
    return now >= this.#until
  }
}

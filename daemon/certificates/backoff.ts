import { backoffMs, jittered } from '#server/work/backoff.ts'

const OWN = { firstMs: 60_000, longestMs: 12 * 3_600_000 }

/** How long to wait after so many failures in a row: a minute, doubled, with jitter. `random` is of 0 to 1. */
export function retryMs(failures: number, random?: number): number {
  return jittered(backoffMs(failures, OWN), random)
}

const HEEDED_LONGEST_MS = 30 * 24 * 3_600_000

/** How long to wait when an authority says how long: not so short that it is asked on and on, and not for years. */
export function heededMs(retryAfterMs: number): number {
  return Math.min(Math.max(retryAfterMs, OWN.firstMs), HEEDED_LONGEST_MS)
}

const AWAY = { firstMs: 30_000, longestMs: 30 * 60_000 }
/** What stands before an authority may say so too, and holds up all hosts. */
const AWAY_HEEDED_LONGEST_MS = 24 * 3_600_000

/** Leaves an authority alone that does not answer or has had enough, longer each time. `now` is monotonic milliseconds. */
export class AwayTimes {
  #until = -Infinity
  #times = 0

  /**
   * It did not answer, or refused more, and may have said for how long. Answers for how long it is left alone; of several
   * that fail together the first counts.
   */
  failed(saidMs: number | null = null, now: number = performance.now()): number {
    if (now >= this.#until) {
      const ownMs = backoffMs(++this.#times, AWAY)
      this.#until = now + Math.max(ownMs, Math.min(saidMs ?? 0, AWAY_HEEDED_LONGEST_MS))
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

const FIRST_MS = 60_000
const LONGEST_MS = 12 * 3_600_000
/** Hosts that failed together do not come back together. */
const JITTER = 0.2

/** Returns the wait after this many failures in a row: a minute, doubled each time, with jitter. `random` is 0 to 1. */
export function backoffMs(failures: number, random: number = Math.random()): number {
  const ms = Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 20), LONGEST_MS)
  return Math.round(ms * (1 + JITTER * (2 * random - 1)))
}

const MAX_RETRY_AFTER_MS = 30 * 24 * 3_600_000

/** Bounds the wait that an authority asks for: not so short that it is asked constantly, and not for years. */
export function boundedRetryAfterMs(retryAfterMs: number): number {
  return Math.min(Math.max(retryAfterMs, FIRST_MS), MAX_RETRY_AFTER_MS)
}

/** Lets at most `limit` pass within a minute. `now` is monotonic milliseconds. */
export class MinuteGate {
  readonly #limit: number
  #passed: number[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  /** How many more may pass now. */
  left(now: number = performance.now()): number {
    this.#passed = this.#passed.filter((at) => now - at < 60_000)
    return this.#limit - this.#passed.length
  }

  /** Whether one more may pass now; if so, it is counted. */
  pass(now: number = performance.now()): boolean {
    if (this.left(now) === 0) return false
    this.#passed.push(now)
    return true
  }
}

const OUTAGE_FIRST_MS = 30_000
const OUTAGE_LONGEST_MS = 30 * 60_000
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
      const ownMs = Math.min(OUTAGE_FIRST_MS * 2 ** Math.min(this.#times, 20), OUTAGE_LONGEST_MS)
      this.#until = now + Math.max(ownMs, Math.min(requestedMs ?? 0, OUTAGE_MAX_RETRY_AFTER_MS))
      this.#times++
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

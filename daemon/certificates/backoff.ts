const FIRST_MS = 60_000
const LONGEST_MS = 12 * 3_600_000
/** Hosts that failed together do not come back together. */
const JITTER = 0.2

/** How long to wait after so many failures in a row: a minute, doubled, with jitter. `random` is of 0 to 1. */
export function backoffMs(failures: number, random: number = Math.random()): number {
  const ms = Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 20), LONGEST_MS)
  return Math.round(ms * (1 + JITTER * (2 * random - 1)))
}

const HEEDED_LONGEST_MS = 30 * 24 * 3_600_000

/** How long to wait when an authority says how long: not so short that it is asked on and on, and not for years. */
export function heededMs(retryAfterMs: number): number {
  return Math.min(Math.max(retryAfterMs, FIRST_MS), HEEDED_LONGEST_MS)
}

/** Lets through so many within a minute. `now` is monotonic milliseconds. */
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

  /** Whether one more may pass now; then it has. */
  pass(now: number = performance.now()): boolean {
    if (this.left(now) === 0) return false
    this.#passed.push(now)
    return true
  }
}

const AWAY_FIRST_MS = 30_000
const AWAY_LONGEST_MS = 30 * 60_000
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
      const ownMs = Math.min(AWAY_FIRST_MS * 2 ** Math.min(this.#times, 20), AWAY_LONGEST_MS)
      this.#until = now + Math.max(ownMs, Math.min(saidMs ?? 0, AWAY_HEEDED_LONGEST_MS))
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

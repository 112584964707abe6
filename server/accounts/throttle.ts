import { AppError } from '../errors.ts'
import { RateLimit } from '../work/rate-limit.ts'

/** After this many failures within the window, guesses are refused unchecked. */
export const MAX_FAILURES = 10
export const WINDOW_MS = 5 * 60_000
/** Max guesses that wait for their turn; each takes about 30 ms, so more than this are not people. */
const MAX_WAITING = 256

/**
 * Checks guesses at a password one after another, so that of many at once no more are checked than failures are allowed.
 * Right ones, however many, never count.
 */
export class Throttle {
  readonly #guesses: string
  readonly #failures: RateLimit
  #waiting = 0
  #last: Promise<unknown> = Promise.resolve()

  /**
   * `guesses` names them in errors, as in `sign-ins`; `now` is a monotonic clock in milliseconds: setting the host's clock
   * must not lift the limit.
   */
  constructor(guesses: string, now: () => number = () => performance.now()) {
    this.#guesses = guesses
    this.#failures = new RateLimit(MAX_FAILURES, WINDOW_MS, now)
  }

  /** Runs `judge` in turn; a result of undefined counts as a failure. Throws `too_many_attempts` without running it. */
  async run<T>(judge: () => Promise<T | undefined>): Promise<T | undefined> {
    this.#assertOpen()
    if (this.#waiting >= MAX_WAITING)
      throw tooMany(`too many ${this.#guesses} at once: try again in a moment`, 1)
    this.#waiting++
    const turn = this.#last.then(() => this.#judge(judge))
    this.#last = turn.catch(() => {})
    try {
      return await turn
    } finally {
      this.#waiting--
    }
  }

  /** Forgets the failures so far. */
  clear(): void {
    this.#failures.clear()
  }

  async #judge<T>(judge: () => Promise<T | undefined>): Promise<T | undefined> {
    this.#assertOpen()
    const result = await judge()
    if (result === undefined) this.#failures.count()
    return result
  }

  #assertOpen(): void {
    const seconds = Math.ceil(this.#failures.waitMs / 1_000)
    if (seconds === 0) return
    throw tooMany(
      `${MAX_FAILURES} ${this.#guesses} failed within 5 minutes: try again in ${seconds} seconds`,
      seconds,
    )
  }
}

function tooMany(message: string, retryAfterSeconds: number): AppError {
  return new AppError('too_many_attempts', message, { retryAfterSeconds })
}

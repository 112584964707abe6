/**
 * A rate limit: so many at once, then so many a second. It refills evenly, so nothing can be saved up beyond the maximum.
 */
export class Allowance {
  #left: number
  #at = 0
  readonly #max: number
  readonly #perSecond: number

  constructor(max: number, perSecond: number) {
    this.#left = max
    this.#max = max
    this.#perSecond = perSecond
  }

  /** Takes one; false if none is left. `now` is monotonic milliseconds. */
  take(now: number): boolean {
    if (this.#at !== 0) {
      const refilled = ((now - this.#at) / 1000) * this.#perSecond
      this.#left = Math.min(this.#max, this.#left + refilled)
    }
    this.#at = now
    return --this.#left >= 0
  }
}

/** So many at once, and so many a second after that: what is refilled evenly cannot be saved up. */
export class Allowance {
  #left: number
  #at = 0
  readonly #most: number
  readonly #perSecond: number

  constructor(most: number, perSecond: number) {
    this.#left = most
    this.#most = most
    this.#perSecond = perSecond
  }

  /** Takes one; false when none is left. `now` is monotonic milliseconds. */
  take(now: number): boolean {
    if (this.#at !== 0) {
      const refilled = ((now - this.#at) / 1000) * this.#perSecond
      this.#left = Math.min(this.#most, this.#left + refilled)
    }
    this.#at = now
    return --this.#left >= 0
  }
}

/** Allows at most `limit` events in any window of `withinMs`. */
export class RateLimit {
  readonly #limit: number
  readonly #withinMs: number
  readonly #now: () => number
  /** When each event happened, the oldest first. */
  #times: number[] = []

  /** `now` is a monotonic clock in milliseconds: setting the host's clock must not allow more. */
  constructor(limit: number, withinMs: number, now: () => number = () => performance.now()) {
    this.#limit = limit
    this.#withinMs = withinMs
    this.#now = now
  }

  /** How many more events are allowed now. */
  get left(): number {
    return Math.max(0, this.#limit - this.#recent(this.#now()).length)
  }

  /** How long until the next event is allowed; 0 if it is allowed now. */
  get waitMs(): number {
    const now = this.#now()
    const recent = this.#recent(now)
    const last = recent[recent.length - this.#limit]
    return last === undefined ? 0 : this.#withinMs - (now - last)
  }

  /** Counts an event, whether it is allowed or not. */
  count(): void {
    const now = this.#now()
    this.#times = [...this.#recent(now), now].slice(-this.#limit)
  }

  /** Whether an event is allowed now; if so, it is counted. */
  pass(): boolean {
    if (this.left === 0) return false
    this.count()
    return true
  }

  /** Forgets what was counted. */
  clear(): void {
    this.#times = []
  }

  #recent(now: number): number[] {
    return this.#times.filter((at) => now - at < this.#withinMs)
  }
}

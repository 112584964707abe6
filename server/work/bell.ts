/** What waking one costs, with what it writes then: thousands leave most of a core to everything else. */
const PAUSE_PER_WAITER_MS = 0.1

/** Wakes everybody who waits for more of something; the more they are, the less often. */
export class Bell {
  #waiting = new Set<() => void>()
  #isRinging = false
  #notBefore = 0

  /** Resolves at the next ring, or when the signal aborts. Look at what it is about in the same turn, just before. */
  wait(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal.addEventListener('abort', wake, { once: true })
    })
  }

  ring(): void {
    if (this.#isRinging || this.#waiting.size === 0) return
    this.#isRinging = true
    const pauseMs = this.#notBefore - performance.now()
    if (pauseMs > 0) setTimeout(() => this.#release(), pauseMs)
    else setImmediate(() => this.#release())
  }

  #release(): void {
    // Who begins to wait from here on has seen what this ring is about.
    this.#isRinging = false
    this.#notBefore = performance.now() + this.#waiting.size * PAUSE_PER_WAITER_MS
    for (const wake of [...this.#waiting]) wake()
  }
}

/**
 * The approximate cost of waking one waiter and of what it then writes. With the pause, thousands of waiters leave most of a
 * core to other work.
 */
const PAUSE_PER_WAITER_MS = 0.1

/** Wakes everyone who waits for more of something. The more waiters there are, the less often it rings. */
export class Bell {
  #waiting = new Set<() => void>()
  #isRinging = false
  #notBefore = 0

  /**
   * Resolves at the next ring, or when the signal aborts. Check for new data just before, in the same turn of the event
   * loop.
   */
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
    // Anyone who begins to wait after this has already seen the data that this ring is about.
    this.#isRinging = false
    this.#notBefore = performance.now() + this.#waiting.size * PAUSE_PER_WAITER_MS
    for (const wake of [...this.#waiting]) wake()
  }
}

/** Woken in one go, between two turns of the event loop: each writes to its client. */
const WOKEN_AT_ONCE = 50
/** What waking one costs, so that thousands leave most of a core to everything else. */
const PAUSE_PER_WAITER_MS = 0.1

/** Wakes everybody who waits for more of something: few at a time, and the more they are the less often. */
export class Bell {
  #waiting = new Set<() => void>()
  #isRinging = false
  #notBefore = 0

  /** Resolves at the next ring after this call, or when the signal aborts. What is looked at before it must be looked at in the same turn. */
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
    const woken = [...this.#waiting]
    this.#waiting = new Set()
    this.#notBefore = performance.now() + woken.length * PAUSE_PER_WAITER_MS
    const wakeSome = () => {
      for (const wake of woken.splice(0, WOKEN_AT_ONCE)) wake()
      if (woken.length > 0) setImmediate(wakeSome)
    }
    wakeSome()
  }
}

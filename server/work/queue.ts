/**
 * A bounded hand-over from a producer that cannot wait to a consumer that may be slow: what does not fit is
 * dropped and counted. Iterate it with `for await`; it ends when `signal` aborts or `close` is called, after
 * the consumer has taken what was there.
 */
export class BoundedQueue<T> {
  readonly #limit: number
  #items: T[] = []
  /** Items before this place were handed over. */
  #next = 0
  #dropped = 0
  #closed = false
  #wake: () => void = () => {}

  constructor(limit: number, signal?: AbortSignal) {
    this.#limit = limit
    if (signal?.aborted) this.#closed = true
    else signal?.addEventListener('abort', () => this.close(), { once: true })
  }

  /** Adds an item, or counts it as dropped when the queue is full. */
  push(item: T): void {
    if (this.#closed) return
    if (this.#items.length - this.#next >= this.#limit) this.#dropped++
    else this.#items.push(item)
    this.#wake()
  }

  /** How many items did not fit since this was last asked. */
  takeDropped(): number {
    const dropped = this.#dropped
    this.#dropped = 0
    return dropped
  }

  /** Forgets everything queued. */
  clear(): void {
    this.#items = []
    this.#next = 0
  }

  close(): void {
    this.#closed = true
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      // One by one, so that a clear reaches all that was not handed over.
      while (this.#next < this.#items.length) yield this.#take()
      if (this.#closed) return
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  #take(): T {
    const item = this.#items[this.#next++]!
    // The rest moves to the front now and then, not each time.
    if (this.#next === this.#items.length || this.#next >= this.#limit) {
      this.#items = this.#items.slice(this.#next)
      this.#next = 0
    }
    return item
  }
}

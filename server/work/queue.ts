/**
 * A bounded queue from a producer that cannot wait to a consumer that may be slow. Items that do not fit are dropped and
 * counted. Iterate it with `for await`; the iteration ends when `signal` aborts or `close` is called, after the consumer has
 * taken the remaining items.
 */
export class BoundedQueue<T> {
  readonly #limit: number
  #items: T[] = []
  /** Items before this index were handed over. */
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

  /** How many items were dropped since the last call. */
  takeDropped(): number {
    const dropped = this.#dropped
    this.#dropped = 0
    return dropped
  }

  /** Drops everything queued. */
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
      // One by one, so that `clear` removes everything that was not handed over.
      while (this.#next < this.#items.length) yield this.#take()
      if (this.#closed) return
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  #take(): T {
    const item = this.#items[this.#next++]!
    // The array is compacted only from time to time.
    if (this.#next === this.#items.length || this.#next >= this.#limit) {
      this.#items = this.#items.slice(this.#next)
      this.#next = 0
    }
    return item
  }
}

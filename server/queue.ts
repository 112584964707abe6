/**
 * A bounded hand-over from a producer that cannot wait to a consumer that may be slow: what does not fit is
 * dropped and counted. Iterate it with `for await`; it ends when `signal` aborts or `close` is called, after
 * the consumer has taken what was there.
 */
export class BoundedQueue<T> {
  readonly #limit: number
  #items: T[] = []
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
    if (this.#items.length >= this.#limit) this.#dropped++
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
  }

  close(): void {
    this.#closed = true
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const batch = this.#items
      this.#items = []
      yield* batch
      if (this.#items.length > 0) continue
      if (this.#closed) return
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}

import type { Priority } from './priority.ts'

/** Max pages of one connection in memory: while one is sent, the next are read. */
const MAX_PAGES = 4

/** A stream that sends a file. */
export interface PageStream {
  readonly priority: Priority
  /** The stream now has a page and should continue. */
  onTurn(): void
}

/**
 * Decides which streams of a connection have a page of their file in memory, one page each. A client that reads nothing
 * costs only a few pages, however much it has requested.
 */
export class PageTurns {
  /** The streams that have a page, and whether they have sent it. */
  readonly #holders = new Map<PageStream, boolean>()
  /** Streams that wait, in the order of their requests. */
  readonly #waiting = new Set<PageStream>()

  /** Whether a stream may have a page; if not, `onTurn` is called when it should ask again. */
  take(stream: PageStream): boolean {
    const isUsed = this.#holders.get(stream)
    if (isUsed === undefined && this.#holders.size >= MAX_PAGES) {
      this.#waiting.add(stream)
      return false
    }
    if (isUsed && this.#mustYield(stream)) {
      this.#holders.delete(stream)
      this.#callNext()
      this.#waiting.add(stream)
      return false
    }
    this.#waiting.delete(stream)
    this.#holders.set(stream, false)
    return true
  }

  /** The stream sends its page. */
  use(stream: PageStream): void {
    if (this.#holders.has(stream)) this.#holders.set(stream, true)
  }

  /** The stream has no page, and wants none for now. */
  leave(stream: PageStream): void {
    this.#waiting.delete(stream)
    if (this.#holders.delete(stream)) this.#callNext()
  }

  /** Lower urgency values go first; incremental streams of the same urgency take turns (RFC 9218 section 10). */
  #mustYield({ priority }: PageStream): boolean {
    const next = this.#next()
    if (!next) return false
    const { urgency, incremental } = next.priority
    return urgency < priority.urgency || (urgency === priority.urgency && incremental && priority.incremental)
  }

  #next(): PageStream | null {
    let next: PageStream | null = null
    for (const stream of this.#waiting)
      if (!next || stream.priority.urgency < next.priority.urgency) next = stream
    return next
  }

  #callNext(): void {
    const next = this.#next()
    if (!next) return
    this.#waiting.delete(next)
    this.#holders.set(next, false)
    next.onTurn()
  }
}

import type { Priority } from './priority.ts'

/** Pages of one connection in memory at a time: while one goes out the next are read. */
const MAX_PAGES = 4

/** A stream that sends a file. */
export interface PageStream {
  readonly priority: Priority
  /** It has a page when it looks again. */
  turnCame(): void
}

/**
 * Decides which streams of a connection have a page of their file in memory, each one at a time: a client that takes
 * nothing costs a few, however much it has asked for.
 */
export class PageTurns {
  /** The streams that have a page, each with whether it has sent it. */
  readonly #having = new Map<PageStream, boolean>()
  /** In the order in which they asked. */
  readonly #waiting = new Set<PageStream>()

  /** Whether a stream that wants a page may have one; if not, `turnCame` is called when it should ask again. */
  take(stream: PageStream): boolean {
    const isUsed = this.#having.get(stream)
    if (isUsed === undefined && this.#having.size >= MAX_PAGES) {
      this.#waiting.add(stream)
      return false
    }
    if (isUsed && this.#mustYield(stream)) {
      this.#having.delete(stream)
      this.#callNext()
      this.#waiting.add(stream)
      return false
    }
    this.#waiting.delete(stream)
    this.#having.set(stream, false)
    return true
  }

  /** A stream sends the page of its turn. */
  use(stream: PageStream): void {
    if (this.#having.has(stream)) this.#having.set(stream, true)
  }

  /** A stream has no page, and wants none for now. */
  leave(stream: PageStream): void {
    this.#waiting.delete(stream)
    if (this.#having.delete(stream)) this.#callNext()
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
    this.#having.set(next, false)
    next.turnCame()
  }
}

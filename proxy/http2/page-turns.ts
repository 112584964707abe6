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
  /** Each with whether it has sent the page of its turn. */
  readonly #having = new Map<PageStream, boolean>()
  /** In the order in which they asked. */
  readonly #waiting = new Set<PageStream>()

  /** Whether a stream, which would have one, may have a page; otherwise it is told when to look again. */
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

  /** Whoever matters more goes first, and of those that matter the same each has its turn that is incremental. */
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

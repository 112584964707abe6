import type { TableImage } from '../table/image.ts'

/**
 * Changes to a table that still come. Workers are given each message as it comes, for until the last one nothing that
 * they serve by changes; they have little left to read when all of it is known to be valid.
 */
export class ComingChanges {
  /** The table that changes. */
  readonly base: TableImage
  #messages: string[] = []
  #ended = false
  #more = Promise.withResolvers<void>()

  constructor(base: TableImage) {
    this.base = base
  }

  /** How many have come. */
  get count(): number {
    return this.#messages.length
  }

  add(message: string): void {
    if (this.#ended) return
    this.#messages.push(message)
    this.#tell()
  }

  /** No more come. */
  end(): void {
    this.#ended = true
    this.#tell()
  }

  /** Nothing becomes of them: nobody reads on. */
  drop(): void {
    this.#messages = []
    this.end()
  }

  areFirstOf(messages: readonly string[]): boolean {
    return this.#messages.every((message, index) => message === messages[index])
  }

  /** The messages, each as soon as it has come. */
  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    for (let next = 0; ;) {
      if (next < this.#messages.length) yield this.#messages[next++]!
      else if (this.#ended) return
      else await this.#more.promise
    }
  }

  #tell(): void {
    this.#more.resolve()
    this.#more = Promise.withResolvers()
  }
}

import type { TableImage } from '../table/image.ts'

/**
 * Incoming changes to a table. Workers get each message as it comes, because what they serve does not change until the last
 * one. So they have little left to read once all of it is known to be valid.
 */
export class ComingChanges {
  /** The table that is changed. */
  readonly base: TableImage
  #messages: string[] = []
  #ended = false
  #more = Promise.withResolvers<void>()

  constructor(base: TableImage) {
    this.base = base
  }

  /** How many messages have come. */
  get count(): number {
    return this.#messages.length
  }

  add(message: string): void {
    if (this.#ended) return
    this.#messages.push(message)
    this.#wakeReaders()
  }

  /** No more will come. */
  end(): void {
    this.#ended = true
    this.#wakeReaders()
  }

  /** Abandons the changes: readers stop. */
  drop(): void {
    this.#messages = []
    this.end()
  }

  areFirstOf(messages: readonly string[]): boolean {
    return this.#messages.every((message, index) => message === messages[index])
  }

  /** Yields the messages, each as soon as it has come. */
  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    for (let next = 0; ;) {
      if (next < this.#messages.length) yield this.#messages[next++]!
      else if (this.#ended) return
      else await this.#more.promise
    }
  }

  #wakeReaders(): void {
    this.#more.resolve()
    this.#more = Promise.withResolvers()
  }
}

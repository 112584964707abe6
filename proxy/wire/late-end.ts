/** A connection that is read before it ends. */
interface LateReader {
  /** Whether it is not read for now. */
  readonly paused: boolean
}

/**
 * Ends a connection whose write has failed, once everything that it received before was read. Node does not report the end
 * of such a socket, so it is assumed when a turn of the event loop reads nothing more.
 */
export class LateEnd {
  readonly #reader: LateReader
  readonly #end: () => void
  #hasRead = false

  constructor(reader: LateReader, end: () => void) {
    this.#reader = reader
    this.#end = end
    this.look()
  }

  /** Something was read. */
  read(): void {
    this.#hasRead = true
  }

  /** Checks whether there is more to read; called again when reading resumes. */
  look(): void {
    this.#hasRead = false
    // One turn for the rest of the current poll of the sockets, and one for the next poll.
    setImmediate(() => setImmediate(() => this.#judge()))
  }

  #judge(): void {
    if (this.#reader.paused) return
    if (this.#hasRead) this.look()
    else this.#end()
  }
}

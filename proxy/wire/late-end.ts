/** A connection that is read before it ends. */
interface LateReader {
  /** It is not read for now. */
  readonly paused: boolean
}

/**
 * Ends a connection whose write has failed, once what it received before is read. Node reports no end of such a socket, so the
 * end is assumed when a turn of the event loop reads nothing more.
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
    // Once for what is left of this look at the sockets, and once for the next.
    setImmediate(() => setImmediate(() => this.#judge()))
  }

  #judge(): void {
    if (this.#reader.paused) return
    if (this.#hasRead) this.look()
    else this.#end()
  }
}

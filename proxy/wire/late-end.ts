/** A connection that is read before it ends. */
interface LateReader {
  /** It is not read for now. */
  readonly paused: boolean
}

/**
 * The end of a connection whose write has failed: what came before is read first. Node tells no end of such a socket, so
 * that it has come when a look at the sockets finds nothing more of it.
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

  /** Sees whether there is more: also when a reader goes on that was held back. */
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

import { IncomingMessage } from 'node:http'

/** Before so many pieces nothing is said of their size. */
const JUDGED_PIECES = 512
/** Programs send bodies in pieces of kilobytes. */
const LEAST_MEAN_BYTES = 32

/**
 * A request whose body does not come in crumbs: each piece, if of one byte, costs node some microseconds, so that a few
 * megabytes a second of such chunks would keep the server from everything else.
 */
export class Request extends IncomingMessage {
  #pieces = 0
  #bytes = 0

  override push(piece: Buffer | null): boolean {
    // What is still in node's hands of a connection that has ended.
    if (this.destroyed) return true
    if (piece !== null) {
      this.#pieces++
      this.#bytes += piece.length
      if (this.#pieces >= JUDGED_PIECES && this.#bytes < this.#pieces * LEAST_MEAN_BYTES) {
        this.destroy()
        return true
      }
    }
    return super.push(piece)
  }
}

import { IncomingMessage } from 'node:http'

/** The mean size is not checked before this many pieces. */
const JUDGED_PIECES = 512
/** Normal clients send a body in pieces of kilobytes. */
const MIN_MEAN_BYTES = 32

/**
 * A request that is aborted when its body arrives in tiny pieces. Each piece, even of one byte, costs node some
 * microseconds, so a few megabytes a second of such chunks would keep the server from all other work.
 */
export class Request extends IncomingMessage {
  #pieces = 0
  #bytes = 0

  override push(piece: Buffer | null): boolean {
    // A piece that node still had for a connection that has ended.
    if (this.destroyed) return true
    if (piece !== null) {
      this.#pieces++
      this.#bytes += piece.length
      if (this.#pieces >= JUDGED_PIECES && this.#bytes < this.#pieces * MIN_MEAN_BYTES) {
        this.destroy()
        return true
      }
    }
    return super.push(piece)
  }
}

import { IncomingMessage } from 'node:http'
import { takeRandom } from '../random.ts'

/** The mean size is not checked before this many pieces. */
const JUDGED_PIECES = 512
/** Normal clients send a body in pieces of kilobytes. */
const MIN_MEAN_BYTES = 32
/** What the data plane keeps of clients' ids, too, so that a request has the same id in both. */
const ID = /^[\w.-]{1,128}$/
const ID_BYTES = 16

/**
 * A request that is aborted when its body arrives in tiny pieces. Each piece, even of one byte, costs node some
 * microseconds, so a few megabytes a second of such chunks would keep the server from all other work.
 */
export class Request extends IncomingMessage {
  #pieces = 0
  #bytes = 0
  #id: string | undefined

  /** Names this request in the answer's `X-Request-Id` and in the log: the client's `X-Request-Id`, if it has a usable one. */
  get id(): string {
    if (this.#id === undefined) {
      const given = this.headers['x-request-id']
      this.#id = typeof given === 'string' && ID.test(given) ? given : takeRandom(ID_BYTES).toString('hex')
    }
    return this.#id
  }

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

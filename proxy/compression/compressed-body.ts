import type { Transform } from 'node:stream'
import { NO_TRAILERS } from '../http1/body.ts'
import { CR, LF, putText } from '../http1/bytes.ts'
import { slab } from '../wire/slab.ts'
import type { Wire } from '../wire/wire.ts'

/** Room for the size of a chunk and its line ends. */
const CHUNK_FRAME_BYTES = 16

/** Who a compressed body is for. */
export interface BodyClient {
  readonly wire: Wire
  /** The answer is complete; `trailers` are names in lower case and values in turn. */
  finish(trailers: readonly string[]): void
  /** The rest of the answer cannot be made. */
  refuseAnswer(): void
}

/**
 * The body of an answer on its way through a compressor: as much as that holds is read from the upstream, and as much is
 * given out as the client takes.
 */
export class CompressedBody {
  readonly #compressor: Transform
  readonly #client: BodyClient
  readonly #from: Wire
  #trailers = NO_TRAILERS
  #dropped = false

  constructor(compressor: Transform, client: BodyClient, from: Wire) {
    this.#compressor = compressor
    this.#client = client
    this.#from = from
    compressor.on('data', (piece: Buffer) => this.#guard(() => this.#send(piece)))
    compressor.on('end', () => this.#guard(() => this.#finish()))
    compressor.on('drain', () => this.#guard(() => from.resume()))
    compressor.on('error', () => this.#guard(() => client.refuseAnswer()))
  }

  /** Nothing is given out until the client has taken what it was sent before. */
  holdBack(): void {
    this.#client.wire.holdBack(this.#compressor)
  }

  /** Takes bytes that stay as they are. */
  write(bytes: Buffer): void {
    if (bytes.length > 0 && !this.#compressor.write(bytes)) this.#from.pause()
  }

  /** All has come. */
  end(trailers: readonly string[]): void {
    this.#trailers = trailers
    this.#compressor.end()
  }

  /** Nothing more of it is wanted. */
  drop(): void {
    this.#dropped = true
    this.#compressor.destroy()
  }

  #send(piece: Buffer): void {
    const { wire } = this.#client
    const isSent = wire.frames ? wire.write(piece, 0, piece.length) : this.#sendChunk(wire, piece)
    if (!isSent) this.holdBack()
  }

  #sendChunk(wire: Wire, piece: Buffer): boolean {
    slab.reserve(piece.length + CHUNK_FRAME_BYTES)
    let to = putText(slab.buffer, slab.at, `${piece.length.toString(16)}\r\n`)
    to += piece.copy(slab.buffer, to)
    slab.buffer[to++] = CR
    slab.buffer[to++] = LF
    return wire.writeSlab(to)
  }

  #finish(): void {
    if (!this.#client.wire.frames) this.#sendEnd(this.#client.wire)
    this.#client.finish(this.#trailers)
  }

  #sendEnd(wire: Wire): void {
    const lines = ['0']
    for (let index = 0; index < this.#trailers.length; index += 2)
      lines.push(`${this.#trailers[index]}: ${this.#trailers[index + 1]}`)
    const end = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
    wire.write(end, 0, end.length)
  }

  /** A fault of ours ends the connections that it concerns, not the worker with all others. */
  #guard(happens: () => void): void {
    if (this.#dropped) return
    try {
      happens()
    } catch (error) {
      this.#client.wire.fail(error)
    }
  }
}

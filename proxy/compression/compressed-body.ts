import type { Transform } from 'node:stream'
import { NO_TRAILERS } from '../http1/body.ts'
import { CR, LF, putText } from '../http1/bytes.ts'
import { slab } from '../wire/slab.ts'
import type { Wire } from '../wire/wire.ts'
import { WHOLE_BYTES, type Compressor } from './compressor.ts'

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
 * The body of an answer on its way through a compressor. What comes at once goes out at once; of more, as much as the
 * compressor holds is read from the upstream, and as much is given out as the client takes.
 */
export class CompressedBody {
  readonly #compressor: Compressor
  readonly #client: BodyClient
  readonly #from: Wire
  /** What comes in pieces goes through it, from the first on. */
  #stream: Transform | null = null
  /** All of it, compressed. */
  #whole: Buffer | null = null
  #paused = false
  #trailers = NO_TRAILERS
  #dropped = false

  constructor(compressor: Compressor, client: BodyClient, from: Wire) {
    this.#compressor = compressor
    this.#client = client
    this.#from = from
  }

  /** Nothing is given out until the client has taken what it was sent before. */
  holdBack(): void {
    this.#client.wire.holdBack(this)
  }

  pause(): void {
    this.#paused = true
    this.#stream?.pause()
  }

  resume(): void {
    this.#paused = false
    this.#stream?.resume()
  }

  /** Takes bytes that stay as they are; after the `last` of them the end is to come. */
  write(bytes: Buffer, last: boolean): void {
    if (this.#dropped) return
    const isWhole = last && !this.#stream && bytes.length <= WHOLE_BYTES
    if (isWhole) this.#whole = this.#compressor.whole(bytes)
    else if (bytes.length > 0 && !this.#streaming().write(bytes)) this.#from.pause()
  }

  /** All has come. */
  end(trailers: readonly string[]): void {
    if (this.#dropped) return
    this.#trailers = trailers
    if (this.#whole) this.#finish(this.#whole)
    else this.#streaming().end()
  }

  /** Nothing more of it is wanted. */
  drop(): void {
    this.#dropped = true
    if (this.#stream) this.#stream.destroy()
    else this.#compressor.release()
  }

  #streaming(): Transform {
    this.#stream ??= this.#openStream()
    return this.#stream
  }

  #openStream(): Transform {
    const stream = this.#compressor.stream()
    stream.on('data', (piece: Buffer) => this.#guard(() => this.#send(piece)))
    stream.on('end', () => this.#guard(() => this.#finish(null)))
    stream.on('drain', () => this.#guard(() => this.#from.resume()))
    stream.on('error', () => this.#guard(() => this.#client.refuseAnswer()))
    if (this.#paused) stream.pause()
    return stream
  }

  #send(piece: Buffer): void {
    const { wire } = this.#client
    const isSent = wire.frames ? wire.write(piece, 0, piece.length) : this.#sendChunks(wire, piece, '')
    if (!isSent) this.holdBack()
  }

  /** Sends a piece, if there is one, as a chunk, and what follows it. */
  #sendChunks(wire: Wire, piece: Buffer | null, ending: string): boolean {
    slab.reserve((piece?.length ?? 0) + CHUNK_FRAME_BYTES + ending.length)
    let to = slab.at
    if (piece) {
      to = putText(slab.buffer, to, `${piece.length.toString(16)}\r\n`)
      to += piece.copy(slab.buffer, to)
      slab.buffer[to++] = CR
      slab.buffer[to++] = LF
    }
    return wire.writeSlab(putText(slab.buffer, to, ending))
  }

  /** All is sent but a last piece, if there is one. */
  #finish(last: Buffer | null): void {
    const { wire } = this.#client
    if (!wire.frames) this.#sendChunks(wire, last, this.#ending())
    else if (last) wire.write(last, 0, last.length)
    this.#client.finish(this.#trailers)
  }

  #ending(): string {
    const lines = ['0']
    for (let index = 0; index < this.#trailers.length; index += 2)
      lines.push(`${this.#trailers[index]}: ${this.#trailers[index + 1]}`)
    return `${lines.join('\r\n')}\r\n\r\n`
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

import type { Transform } from 'node:stream'
import { NO_TRAILERS } from '../http1/body.ts'
import { CR, LF, putText } from '../http1/bytes.ts'
import { slab } from '../wire/slab.ts'
import type { Wire } from '../wire/wire.ts'
import { WHOLE_BYTES, type Compressor } from './compressor.ts'

/** Room for the size of a chunk and its line ends. */
const CHUNK_FRAME_BYTES = 16

/** The client that a compressed body is sent to. */
export interface BodyClient {
  readonly wire: Wire
  /** Ends a complete answer; `trailers` alternates names in lower case and values. */
  finish(trailers: readonly string[]): void
  /** Ends an answer whose rest cannot be produced. */
  refuseAnswer(): void
}

/**
 * The body of an answer on its way through a compressor. A body that arrives at once is sent at once. A longer one is read
 * from the upstream as far as the compressor can hold, and is sent as fast as the client takes it.
 */
export class CompressedBody {
  readonly #compressor: Compressor
  readonly #client: BodyClient
  readonly #from: Wire
  /** The compressor of a body that arrives in pieces. */
  #stream: Transform | null = null
  /** The compressed body, if it arrived at once. */
  #whole: Buffer | null = null
  #paused = false
  #trailers = NO_TRAILERS
  #dropped = false

  constructor(compressor: Compressor, client: BodyClient, from: Wire) {
    this.#compressor = compressor
    this.#client = client
    this.#from = from
  }

  /** Sends nothing more until the client has taken what was sent before. */
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

  /** Takes bytes that the caller does not change afterwards. `last` says that `end` follows. */
  write(bytes: Buffer, last: boolean): void {
    if (this.#dropped) return
    const isWhole = last && !this.#stream && bytes.length <= WHOLE_BYTES
    if (isWhole) this.#whole = this.#compressor.whole(bytes)
    else if (bytes.length > 0 && !this.#streaming().write(bytes)) this.#from.pause()
  }

  /** Ends the body: everything has arrived. */
  end(trailers: readonly string[]): void {
    if (this.#dropped) return
    this.#trailers = trailers
    if (this.#whole) this.#finish(this.#whole)
    else this.#streaming().end()
  }

  /** Stops compressing: nobody wants the rest. */
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

  /** Sends the piece, if there is one, as a chunk, and then `ending`. */
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

  /** Sends the last piece, if there is one, and ends the answer. */
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

  /** Limits a fault of this program to the connections that it concerns; otherwise it would end the worker. */
  #guard(happens: () => void): void {
    if (this.#dropped) return
    try {
      happens()
    } catch (error) {
      this.#client.wire.fail(error)
    }
  }
}

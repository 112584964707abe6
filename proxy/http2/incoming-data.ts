import type { Abuse } from './abuse.ts'
import { ConnectionFault, ERROR, FLAG } from './protocol.ts'
import type { StreamWire } from './stream-wire.ts'
import type { Streams } from './streams.ts'

/** A client that sends so little at a time, of what nobody wants, makes us work for nothing. */
const TINY_BYTES = 256

/** The connection of the streams. */
export interface DataHost {
  /** So many bytes need not be waited for: the client may send as many more. */
  took(bytes: number): void
  /** Is to be flushed soon, and what came to be given to whom it is for. */
  touch(): void
}

/** Gives the DATA of a connection to its streams, what of each has come at a time in one (RFC 9113 6.1). */
export class IncomingData {
  readonly #streams: Streams
  readonly #abuse: Abuse
  readonly #host: DataHost
  /** Bytes that the client may send. */
  #window: number
  /** The stream of the frame that comes, null where nobody wants it; and how much of it has come. */
  #stream: StreamWire | null = null
  #bytes = 0
  /** Those of which something waits to be given. */
  readonly #coming: StreamWire[] = []

  constructor(host: DataHost, streams: Streams, abuse: Abuse, window: number) {
    this.#host = host
    this.#streams = streams
    this.#abuse = abuse
    this.#window = window
  }

  /** The client may send so much more. */
  widen(bytes: number): void {
    this.#window += bytes
  }

  /** A frame begins, of so many bytes with what pads it. Throws ConnectionFault. */
  begin(id: number, length: number): void {
    this.#bytes = 0
    this.#window -= length
    if (this.#window < 0) throw new ConnectionFault(ERROR.flowControl, 'more DATA than the connection takes')
    this.#stream = this.#wanting(id, length)
    if (this.#stream) return
    this.#host.took(length)
    if (length < TINY_BYTES) this.#abuse.idleFrame()
  }

  /** The stream that a frame is for; null where nobody wants it. */
  #wanting(id: number, length: number): StreamWire | null {
    const stream = this.#streams.find(id)
    if (!stream) {
      if (!this.#streams.ignores(id)) this.#streams.refuse(id, ERROR.streamClosed)
      return null
    }
    const { body } = stream
    if (!body.ended && body.admit(length)) return stream
    this.#streams.reset(stream, body.ended ? ERROR.streamClosed : ERROR.flowControl)
    return null
  }

  /** Some of its content. */
  take(bytes: Buffer, start: number, end: number): void {
    this.#bytes += end - start
    const stream = this.#stream
    if (!stream) return
    if (!stream.isOpen) this.#host.took(end - start)
    else this.#keep(stream, bytes, start, end)
  }

  #keep(stream: StreamWire, bytes: Buffer, start: number, end: number): void {
    const { body } = stream
    const waited = body.waits
    if (!body.take(bytes, start, end)) return this.#streams.reset(stream, ERROR.protocol)
    if (waited || !body.waits) return
    this.#coming.push(stream)
    this.#host.touch()
  }

  /** Gives what has come to those that read. */
  give(): void {
    if (this.#coming.length === 0) return
    for (const { body } of this.#coming.splice(0)) body.resume()
  }

  /** All of it has come; so many bytes were padding. */
  end(flags: number, padding: number): void {
    const stream = this.#stream
    this.#stream = null
    const ends = (flags & FLAG.endStream) !== 0
    if (this.#bytes === 0 && !ends) this.#abuse.idleFrame()
    if (!stream) return
    if (!stream.isOpen) return this.#host.took(padding)
    if (padding > 0) stream.body.skip(padding)
    if (ends && stream.isOpen && !stream.endBody('')) this.#streams.reset(stream, ERROR.protocol)
  }
}

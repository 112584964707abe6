import type { Abuse } from './abuse.ts'
import { ConnectionFault, ERROR, FLAG } from './protocol.ts'
import type { StreamWire } from './stream-wire.ts'
import type { Streams } from './streams.ts'

/** A client that sends unwanted data in such small frames keeps us busy for nothing. */
const TINY_BYTES = 256

/** The connection of the streams. */
export interface DataHost {
  /** So many bytes were taken: the client may send as many more. */
  took(bytes: number): void
  /** Schedules a flush, which also gives what has arrived to its readers. */
  touch(): void
}

/**
 * Passes the DATA of a connection to its streams; what arrives together for a stream is passed on together (RFC 9113 6.1).
 */
export class IncomingData {
  readonly #streams: Streams
  readonly #abuse: Abuse
  readonly #host: DataHost
  /** How many bytes the client may send. */
  #window: number
  /** The stream of the current frame, null if nobody wants it; and how much of the frame has arrived. */
  #stream: StreamWire | null = null
  #bytes = 0
  /** Streams with data that was not passed on yet. */
  readonly #coming: StreamWire[] = []

  constructor(host: DataHost, streams: Streams, abuse: Abuse, window: number) {
    this.#host = host
    this.#streams = streams
    this.#abuse = abuse
    this.#window = window
  }

  /** Lets the client send more. */
  widen(bytes: number): void {
    this.#window += bytes
  }

  /** A frame begins; `length` includes its padding. Throws ConnectionFault. */
  begin(id: number, length: number): void {
    this.#bytes = 0
    this.#window -= length
    if (this.#window < 0) throw new ConnectionFault(ERROR.flowControl, 'more DATA than the connection takes')
    this.#stream = this.#streamFor(id, length)
    if (this.#stream) return
    this.#host.took(length)
    if (length < TINY_BYTES) this.#abuse.idleFrame()
  }

  /** Returns the stream that a frame is for; null if nobody wants it. */
  #streamFor(id: number, length: number): StreamWire | null {
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

  /** Takes a part of its content. */
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

  /** Passes what has arrived to the readers. */
  give(): void {
    if (this.#coming.length === 0) return
    for (const { body } of this.#coming.splice(0)) body.resume()
  }

  /** All of it has arrived; `padding` bytes were padding. */
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

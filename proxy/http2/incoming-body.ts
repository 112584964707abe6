import { BODY } from './request-fields.ts'

/** What a client may send ahead of an upstream that reads slowly, of one request. */
export const STREAM_WINDOW_BYTES = 256 * 1024

const END_OF_CHUNKS = '0\r\n'

/** Who reads a body. */
export interface BodyReader {
  /** It reads no more for now. */
  readonly paused: boolean
  /** Reads bytes that stay as they are. */
  receive(bytes: Buffer, length: number): void
  /** The client has sent the last byte of a tunnel. */
  tunnelEnded(): void
  /** So many bytes more of the connection may be sent, and of the stream when it has the second number. */
  giveBack(ofConnection: number, ofStream: number): void
}

/** The body of a request as it comes in frames, given to the relay as HTTP/1.1 has it. */
export class IncomingBody {
  /** Its last byte has come from the client. */
  ended = true
  readonly #reader: BodyReader
  #kind: number = BODY.none
  /** Bytes to come of a body with a length. */
  #left = 0
  /** What the client may send. */
  #window = 0
  /** What came while nobody read. */
  #waiting: Buffer[] = []
  #endWaits = false
  /** Bytes that were not given back: of the connection's window, and of the stream's. */
  #held = 0
  #taken = 0

  constructor(reader: BodyReader) {
    this.#reader = reader
  }

  /** Begins with the body of the next request. */
  begin(kind: number, length: number, ended: boolean): void {
    this.ended = ended
    this.#kind = kind
    this.#left = length
    this.#window = STREAM_WINDOW_BYTES
    this.#taken = 0
  }

  get isTunnel(): boolean {
    return this.#kind === BODY.tunnel
  }

  /** A frame of so many bytes comes; false when the client was not allowed to send it. */
  admit(length: number): boolean {
    this.#window -= length
    return this.#window >= 0
  }

  /** Takes content of a frame; false when it is more than was announced. */
  take(bytes: Buffer, start: number, end: number): boolean {
    this.#held += end - start
    if (this.#kind === BODY.length) {
      this.#left -= end - start
      if (this.#left < 0) return false
    }
    // What follows CONNECT is nobody's.
    if (this.#kind === BODY.none) this.#giveBack()
    else this.#pass(this.#kind === BODY.chunked ? chunkOf(bytes, start, end) : copyOf(bytes, start, end))
    return true
  }

  /** Padding has come, which is of no use. */
  skip(length: number): void {
    this.#held += length
    this.#giveBack()
  }

  /** The last frame has come, with the lines of trailers; false when it is less than was announced. */
  end(trailers: string): boolean {
    this.ended = true
    if (this.#kind === BODY.length) return this.#left === 0
    if (this.#kind === BODY.chunked) this.#pass(Buffer.from(`${END_OF_CHUNKS}${trailers}\r\n`, 'latin1'))
    else if (this.#kind === BODY.tunnel) this.#endWaits = true
    this.resume()
    return true
  }

  #pass(bytes: Buffer): void {
    this.#waiting.push(bytes)
    this.resume()
  }

  /** Gives what waits to the reader until it has enough. */
  resume(): void {
    while (!this.#reader.paused && this.#waiting.length > 0) {
      const bytes = this.#waiting.shift()!
      this.#reader.receive(bytes, bytes.length)
    }
    if (this.#reader.paused) return
    this.#giveBack()
    if (!this.#endWaits) return
    this.#endWaits = false
    this.#reader.tunnelEnded()
  }

  /** What comes is not wanted. */
  refuse(): void {
    this.#kind = BODY.none
    this.#waiting = []
    this.#giveBack()
  }

  /** Nothing comes any more. */
  drop(): void {
    this.#waiting = []
    this.#endWaits = false
    this.#kind = BODY.none
    const held = this.#held
    this.#held = 0
    this.#reader.giveBack(held, 0)
  }

  /** The connection is told at once; the client hears of the stream's window when half of it is used. */
  #giveBack(): void {
    if (this.#held === 0 || this.#waiting.length > 0) return
    const held = this.#held
    this.#held = 0
    this.#taken += held
    let ofStream = 0
    if (this.#taken >= STREAM_WINDOW_BYTES / 2 && !this.ended) {
      ofStream = this.#taken
      this.#window += ofStream
      this.#taken = 0
    }
    this.#reader.giveBack(held, ofStream)
  }
}

/** The read buffer is used again at once. */
function copyOf(bytes: Buffer, start: number, end: number): Buffer {
  return Buffer.from(bytes.subarray(start, end))
}

/** A chunk in one piece: each piece is a write of its own. */
function chunkOf(bytes: Buffer, start: number, end: number): Buffer {
  const size = `${(end - start).toString(16)}\r\n`
  const chunk = Buffer.allocUnsafe(size.length + end - start + 2)
  chunk.write(size, 'latin1')
  bytes.copy(chunk, size.length, start, end)
  chunk.write('\r\n', size.length + end - start, 'latin1')
  return chunk
}

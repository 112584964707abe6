import { BODY } from './request-fields.ts'

/** What a client may send ahead of an upstream that reads slowly, of one request. */
export const STREAM_WINDOW_BYTES = 256 * 1024

const END_OF_CHUNKS = '0\r\n'
/**
 * What comes is gathered in pieces, as each byte of it may have come in a frame of its own, and each piece is a write to
 * the service: the first is short where little comes, the next are twice as long, up to a frame's length.
 */
const FIRST_PIECE_BYTES = 1024
const MAX_PIECE_BYTES = 16 * 1024

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
  /** What came and was not read: whole pieces, one that grows, and what ends the body. */
  #waiting: Buffer[] = []
  #growing: Buffer | null = null
  #grown = 0
  /** What the next piece has room for at least. */
  #pieceBytes = FIRST_PIECE_BYTES
  #ending: Buffer | null = null
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
    this.#pieceBytes = FIRST_PIECE_BYTES
  }

  get isTunnel(): boolean {
    return this.#kind === BODY.tunnel
  }

  /** A frame of so many bytes comes; false when the client was not allowed to send it. */
  admit(length: number): boolean {
    this.#window -= length
    return this.#window >= 0
  }

  /** Takes content of a frame, which waits until `resume`; false when it is more than was announced. */
  take(bytes: Buffer, start: number, end: number): boolean {
    this.#held += end - start
    if (this.#kind === BODY.length) {
      this.#left -= end - start
      if (this.#left < 0) return false
    }
    // What follows CONNECT is nobody's.
    if (this.#kind === BODY.none) this.#giveBack()
    else this.#keep(bytes, start, end)
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
    if (this.#kind === BODY.length && this.#left > 0) return false
    if (this.#kind === BODY.chunked) this.#ending = Buffer.from(`${END_OF_CHUNKS}${trailers}\r\n`, 'latin1')
    else if (this.#kind === BODY.tunnel) this.#endWaits = true
    this.resume()
    return true
  }

  /** Something came that was not read. */
  get waits(): boolean {
    return this.#waiting.length > 0 || this.#growing !== null
  }

  #keep(bytes: Buffer, start: number, end: number): void {
    while (start < end) {
      this.#growing ??= this.#nextPiece(end - start)
      const copied = bytes.copy(this.#growing, this.#grown, start, end)
      start += copied
      this.#grown += copied
      if (this.#grown === this.#growing.length) this.#waiting.push(this.#takeGrowing()!)
    }
  }

  #nextPiece(wanted: number): Buffer {
    const bytes = Math.min(MAX_PIECE_BYTES, Math.max(wanted, this.#pieceBytes))
    this.#pieceBytes = bytes * 2
    return Buffer.allocUnsafe(bytes)
  }

  #takeGrowing(): Buffer | null {
    const piece = this.#growing?.subarray(0, this.#grown) ?? null
    this.#growing = null
    this.#grown = 0
    return piece
  }

  #give(piece: Buffer): void {
    const bytes = this.#kind === BODY.chunked ? chunkOf(piece) : piece
    this.#reader.receive(bytes, bytes.length)
  }

  /** Gives what waits to the reader until it has enough. */
  resume(): void {
    while (!this.#reader.paused && this.waits) {
      this.#give(this.#waiting.shift() ?? this.#takeGrowing()!)
    }
    if (this.#reader.paused) return
    this.#pieceBytes = FIRST_PIECE_BYTES
    this.#giveBack()
    const ending = this.#ending
    this.#ending = null
    if (ending) this.#reader.receive(ending, ending.length)
    if (!this.#endWaits) return
    this.#endWaits = false
    this.#reader.tunnelEnded()
  }

  /** What comes is not wanted. */
  refuse(): void {
    this.#forget()
    this.#giveBack()
  }

  /** Nothing comes any more. */
  drop(): void {
    this.#forget()
    const held = this.#held
    this.#held = 0
    this.#reader.giveBack(held, 0)
  }

  #forget(): void {
    this.#kind = BODY.none
    this.#waiting = []
    this.#growing = null
    this.#grown = 0
    this.#ending = null
    this.#endWaits = false
  }

  /** The connection is told at once; the client hears of the stream's window when half of it is used. */
  #giveBack(): void {
    if (this.#held === 0 || this.waits) return
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

/** A chunk in one piece: each piece is a write of its own. */
function chunkOf(bytes: Buffer): Buffer {
  const size = `${bytes.length.toString(16)}\r\n`
  const chunk = Buffer.allocUnsafe(size.length + bytes.length + 2)
  chunk.write(size, 'latin1')
  bytes.copy(chunk, size.length)
  chunk.write('\r\n', size.length + bytes.length, 'latin1')
  return chunk
}

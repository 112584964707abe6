import { BODY } from './request-fields.ts'

/** How much a client may send ahead of an upstream that reads slowly, for one request. */
export const STREAM_WINDOW_BYTES = 256 * 1024

const END_OF_CHUNKS = '0\r\n'
/**
 * Incoming bytes are collected in pieces, since each may have come in a frame of its own, and each piece is one write to the
 * service. The first piece is short, in case little comes; each next one is twice as long, up to the length of a frame.
 */
const FIRST_PIECE_BYTES = 1024
const MAX_PIECE_BYTES = 16 * 1024

/** The reader of a body. */
export interface BodyReader {
  /** Whether it reads nothing for now. */
  readonly paused: boolean
  /** Takes bytes that are not changed afterwards. */
  receive(bytes: Buffer, length: number): void
  /** The client has sent the last byte of a tunnel. */
  tunnelEnded(): void
  /** Returns bytes to the window of the connection and, if `ofStream` is not 0, to that of the stream. */
  giveBack(ofConnection: number, ofStream: number): void
}

/** The body of a request, which arrives in frames and is given to the relay as in HTTP/1.1. */
export class IncomingBody {
  /** Whether its last byte has arrived. */
  ended = true
  readonly #reader: BodyReader
  #kind: number = BODY.none
  /** Bytes still to come of a body with a known length. */
  #left = 0
  /** How much the client may send. */
  #window = 0
  /** What has arrived and was not read: complete pieces, one that grows, and the end of the body. */
  #waiting: Buffer[] = []
  #growing: Buffer | null = null
  #grown = 0
  /** The min size of the next piece. */
  #pieceBytes = FIRST_PIECE_BYTES
  #ending: Buffer | null = null
  #endWaits = false
  /** Bytes not yet returned to the connection's window, and to the stream's. */
  #held = 0
  #taken = 0

  constructor(reader: BodyReader) {
    this.#reader = reader
  }

  /** Gets ready for the body of the next request. */
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

  /** Counts a frame that begins, with its padding; false if the client was not allowed to send it. */
  admit(length: number): boolean {
    this.#window -= length
    return this.#window >= 0
  }

  /** Takes content of a frame, which waits until `resume`; false if it exceeds the announced length. */
  take(bytes: Buffer, start: number, end: number): boolean {
    this.#held += end - start
    if (this.#kind === BODY.length) {
      this.#left -= end - start
      if (this.#left < 0) return false
    }
    // Nobody reads what follows CONNECT.
    if (this.#kind === BODY.none) this.#giveBack()
    else this.#keep(bytes, start, end)
    return true
  }

  /** Counts padding, which nobody reads. */
  skip(length: number): void {
    this.#held += length
    this.#giveBack()
  }

  /** The last frame has arrived, with the lines of trailers; false if the body is shorter than announced. */
  end(trailers: string): boolean {
    this.ended = true
    if (this.#kind === BODY.length && this.#left > 0) return false
    if (this.#kind === BODY.chunked) this.#ending = Buffer.from(`${END_OF_CHUNKS}${trailers}\r\n`, 'latin1')
    else if (this.#kind === BODY.tunnel) this.#endWaits = true
    this.resume()
    return true
  }

  /** Whether there is something that was not read. */
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

  /** Gives the reader what waits, until it pauses. */
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

  /** Discards the body: nobody wants it. */
  refuse(): void {
    this.#forget()
    this.#giveBack()
  }

  /** Nothing more will come. */
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

  /** Returns bytes to the connection's window at once, and to the stream's when half of it is used. */
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

/** Returns a complete chunk in one buffer, since each buffer is a write of its own. */
function chunkOf(bytes: Buffer): Buffer {
  const size = `${bytes.length.toString(16)}\r\n`
  const chunk = Buffer.allocUnsafe(size.length + bytes.length + 2)
  chunk.write(size, 'latin1')
  bytes.copy(chunk, size.length)
  chunk.write('\r\n', size.length + bytes.length, 'latin1')
  return chunk
}

import { ConnectionFault, ERROR, FLAG, FRAME, FRAME_HEADER_BYTES, MAX_FRAME_BYTES } from './protocol.ts'

/** How a client begins (RFC 9113 3.4). */
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')

/** What is being read: the preface, frames, or nothing any more. */
const PHASE = { preface: 0, frames: 1, stopped: 2 } as const

/** Handles frames. `bytes` are only valid during the call. */
export interface FrameHandler {
  /** A complete frame other than DATA, with its content in `bytes[start, end)`. */
  onFrame(type: number, flags: number, id: number, bytes: Buffer, start: number, end: number): void
  /** A DATA frame begins; `length` includes the padding. */
  onDataBegin(id: number, length: number): void
  /** A part of its content. */
  onData(id: number, bytes: Buffer, start: number, end: number): void
  /** All of it has arrived; `padding` bytes were padding. */
  onDataEnd(id: number, flags: number, padding: number): void
}

/** Splits what arrives over a connection into frames (RFC 9113 4.1): in place, unless they come in pieces. */
export class FrameReader {
  readonly #handler: FrameHandler
  /** One of `PHASE`. */
  #phase: number = PHASE.preface
  #prefaceRead = 0
  /**
   * A header that comes in pieces. It is small enough for the JavaScript heap, so it does not keep a pooled buffer alive.
   */
  #header: Uint8Array | null = null
  #headerRead = 0
  #type = 0
  #flags = 0
  #id = 0
  /** The content of a frame that comes in pieces. */
  #content: Buffer | null = null
  #contentRead = 0
  /** For the current DATA frame: bytes to come, its padding, and whether the padding's length is still to come. */
  #dataLeft = -1
  #padding = 0
  #paddingUnknown = false

  constructor(handler: FrameHandler) {
    this.#handler = handler
  }

  /** Whether a frame other than DATA, or the preface, has begun and is not complete. */
  get isWithinFrame(): boolean {
    if (this.#phase !== PHASE.frames) return this.#phase === PHASE.preface
    return this.#headerRead > 0 || this.#content !== null
  }

  /** Stops reading. */
  stop(): void {
    this.#phase = PHASE.stopped
  }

  /** Reads `input[0, length)`. Throws ConnectionFault. */
  read(input: Buffer, length: number): void {
    let at = this.#phase === PHASE.preface ? this.#readPreface(input, length) : 0
    while (at < length && this.#phase === PHASE.frames) {
      if (this.#dataLeft >= 0) at = this.#readData(input, at, length)
      else if (this.#content) at = this.#readContent(input, at, length, this.#content)
      else at = this.#readHeader(input, at, length)
    }
  }

  #readPreface(input: Buffer, length: number): number {
    const end = Math.min(length, PREFACE.length - this.#prefaceRead)
    if (input.compare(PREFACE, this.#prefaceRead, this.#prefaceRead + end, 0, end) !== 0)
      throw new ConnectionFault(ERROR.protocol, 'no connection preface')
    this.#prefaceRead += end
    if (this.#prefaceRead === PREFACE.length) this.#phase = PHASE.frames
    return end
  }

  #readHeader(input: Buffer, at: number, end: number): number {
    if (this.#headerRead === 0 && end - at >= FRAME_HEADER_BYTES) {
      return this.#begin(input, at, at + FRAME_HEADER_BYTES, end, input)
    }
    const header = (this.#header ??= new Uint8Array(FRAME_HEADER_BYTES))
    const stop = Math.min(end, at + FRAME_HEADER_BYTES - this.#headerRead)
    this.#headerRead += input.copy(header, this.#headerRead, at, stop)
    if (this.#headerRead < FRAME_HEADER_BYTES) return stop
    this.#headerRead = 0
    this.#header = null
    return this.#begin(header, 0, stop, end, input)
  }

  /** Begins the frame whose header is in `header` at `from`, and whose content follows in `input` from `at` on. */
  #begin(header: Uint8Array, from: number, at: number, end: number, input: Buffer): number {
    const length = (header[from]! << 16) | (header[from + 1]! << 8) | header[from + 2]!
    if (length > MAX_FRAME_BYTES) throw new ConnectionFault(ERROR.frameSize, 'a frame is too long')
    this.#type = header[from + 3]!
    this.#flags = header[from + 4]!
    this.#id =
      ((header[from + 5]! & 127) << 24) |
      (header[from + 6]! << 16) |
      (header[from + 7]! << 8) |
      header[from + 8]!
    if (this.#type === FRAME.data) {
      this.#beginData(length)
      return at
    }
    if (end - at >= length) {
      this.#handler.onFrame(this.#type, this.#flags, this.#id, input, at, at + length)
      return at + length
    }
    this.#content = Buffer.allocUnsafe(length)
    this.#contentRead = input.copy(this.#content, 0, at, end)
    return end
  }

  #readContent(input: Buffer, at: number, end: number, content: Buffer): number {
    const stop = Math.min(end, at + content.length - this.#contentRead)
    this.#contentRead += input.copy(content, this.#contentRead, at, stop)
    if (this.#contentRead === content.length) {
      this.#content = null
      this.#handler.onFrame(this.#type, this.#flags, this.#id, content, 0, content.length)
    }
    return stop
  }

  #beginData(length: number): void {
    this.#handler.onDataBegin(this.#id, length)
    this.#padding = 0
    this.#paddingUnknown = (this.#flags & FLAG.padded) !== 0
    if (this.#paddingUnknown && length === 0)
      throw new ConnectionFault(ERROR.frameSize, 'padded DATA without a padding length')
    this.#dataLeft = length
    if (length === 0) this.#endData()
  }

  #readData(input: Buffer, at: number, end: number): number {
    if (this.#paddingUnknown) {
      this.#paddingUnknown = false
      this.#padding = input[at++]! + 1
      if (--this.#dataLeft < this.#padding - 1)
        throw new ConnectionFault(ERROR.protocol, 'DATA has more padding than content')
    }
    const padding = Math.max(this.#padding - 1, 0)
    const stop = Math.min(end, at + this.#dataLeft)
    const dataStop = Math.min(stop, at + this.#dataLeft - padding)
    if (dataStop > at) this.#handler.onData(this.#id, input, at, dataStop)
    this.#dataLeft -= stop - at
    if (this.#dataLeft === 0) this.#endData()
    return stop
  }

  #endData(): void {
    this.#dataLeft = -1
    this.#handler.onDataEnd(this.#id, this.#flags, this.#padding)
  }
}

import type { Pins } from './pins.ts'

/** The content of an HTTP/2 frame that every peer accepts (RFC 9113 6.5.2). */
export const PIECE_BYTES = 16 * 1024
/** The size of a frame header. */
const ROOM_BYTES = 9
/** Shorter content is not worth a write of its own. */
export const MIN_WRITTEN_BYTES = 2 * PIECE_BYTES
/** Room for what is sent before the first piece in the same write: a head, and a few frames without content. */
const FRONT_BYTES = 1024
/** What a waiting client costs if the page is kept in memory for all clients anyway. */
const SHARED_BYTES = 1024

/**
 * How content is laid out in memory: contiguous, for HTTP/1.1, or `framed`, in pieces of `PIECE_BYTES` with room for a frame
 * header before each. So it can be sent from where it is, in one write, over either protocol.
 */
export type Layout = 'plain' | 'framed'

/** Content of a file in memory. */
export class Page {
  readonly length: number
  readonly layout: Layout
  readonly memory: Buffer
  /** Bytes before the header room of the first piece. */
  readonly front: number
  /** Set for a page that is kept for all clients. */
  pins: Pins | null = null
  readonly #piece: number
  readonly #room: number

  constructor(length: number, layout: Layout) {
    const isFramed = layout === 'framed'
    this.length = length
    this.layout = layout
    this.front = isFramed && length >= MIN_WRITTEN_BYTES ? FRONT_BYTES : 0
    this.#piece = isFramed ? PIECE_BYTES : Math.max(length, 1)
    this.#room = isFramed ? ROOM_BYTES : 0
    const pieces = Math.ceil(length / this.#piece)
    this.memory = Buffer.allocUnsafeSlow(this.front + pieces * this.#room + length)
  }

  /** Bytes held for a client that has not taken all of it. */
  get heldBytes(): number {
    return this.pins ? SHARED_BYTES : this.memory.length
  }

  /** Returns where in `memory` the content's byte `at` is. */
  indexOf(at: number): number {
    return this.front + (Math.floor(at / this.#piece) + 1) * this.#room + at
  }

  /** Returns where the piece that contains `at` ends in the content, or `end` if that comes first. */
  stopOf(at: number, end: number): number {
    return Math.min(end, at - (at % this.#piece) + this.#piece)
  }

  /** Returns the content's bytes from `start` to `end`, a view of each piece. */
  pieces(start: number, end: number): Buffer[] {
    const pieces: Buffer[] = []
    for (let at = start, stop = 0; at < end; at = stop) {
      stop = this.stopOf(at, end)
      const index = this.indexOf(at)
      pieces.push(this.memory.subarray(index, index + stop - at))
    }
    return pieces
  }

  /** Copies the content's bytes from `start` to `end` to `output` at `to`. Returns the end there. */
  copy(output: Buffer, to: number, start: number, end: number): number {
    for (let at = start, stop = 0; at < end; at = stop) {
      stop = this.stopOf(at, end)
      const index = this.indexOf(at)
      to += this.memory.copy(output, to, index, index + stop - at)
    }
    return to
  }
}

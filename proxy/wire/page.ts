import type { Pins } from './pins.ts'

/** A frame of HTTP/2 has at most so much content for every peer (RFC 9113 6.5.2). */
export const PIECE_BYTES = 16 * 1024
/** What the header of a frame takes. */
const ROOM_BYTES = 9
/** A content shorter than this is not worth a write of its own. */
export const MIN_WRITTEN_BYTES = 2 * PIECE_BYTES
/** What goes out before the first piece in the same write: a head, and a few frames without content. */
const FRONT_BYTES = 1024
/** What a waiting client costs when the page is kept in memory anyway, for all clients. */
const SHARED_BYTES = 1024

/**
 * How content lies in memory: as it is, for HTTP/1.1, or `framed`, in pieces of `PIECE_BYTES` with room before each for
 * the header of a frame. So it goes out from where it lies over either, in one write.
 */
export type Layout = 'plain' | 'framed'

/** Content of a file in memory. */
export class Page {
  readonly length: number
  readonly layout: Layout
  readonly memory: Buffer
  /** Bytes before the room of the first piece. */
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

  /** Where in `memory` the content's byte `at` stands. */
  indexOf(at: number): number {
    return this.front + (Math.floor(at / this.#piece) + 1) * this.#room + at
  }

  /** Where in the content the piece that `at` lies in ends, or `end` when that comes first. */
  stopOf(at: number, end: number): number {
    return Math.min(end, at - (at % this.#piece) + this.#piece)
  }

  /** The content's bytes from `start` to `end`, a view of each piece. */
  pieces(start: number, end: number): Buffer[] {
    const pieces: Buffer[] = []
    for (let at = start, stop = 0; at < end; at = stop) {
      stop = this.stopOf(at, end)
      const index = this.indexOf(at)
      pieces.push(this.memory.subarray(index, index + stop - at))
    }
    return pieces
  }

  /** Copies the content's bytes from `start` to `end` to `output` at `to`. Answers the end there. */
  copy(output: Buffer, to: number, start: number, end: number): number {
    for (let at = start, stop = 0; at < end; at = stop) {
      stop = this.stopOf(at, end)
      const index = this.indexOf(at)
      to += this.memory.copy(output, to, index, index + stop - at)
    }
    return to
  }
}

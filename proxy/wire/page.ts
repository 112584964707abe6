/** A frame of HTTP/2 has at most so much content for every peer (RFC 9113 6.5.2). */
export const PIECE_BYTES = 16 * 1024
/** What the header of a frame takes. */
export const PIECE_ROOM_BYTES = 9
/** A content shorter than this is not worth a write of its own. */
export const MIN_WRITTEN_BYTES = 2 * PIECE_BYTES
/** What goes out before the first piece in the same write: a head, and a few frames without content. */
const FRONT_BYTES = 1024

/**
 * Content of a file in memory, in pieces of `PIECE_BYTES` with room before each for the header of a frame: so it goes
 * out over HTTP/2 from where it lies, with the headers of whoever it is sent to written in between.
 */
export class Page {
  readonly length: number
  readonly memory: Buffer
  /** Bytes before the room of the first piece. */
  readonly front: number

  constructor(length: number) {
    this.length = length
    this.front = length < MIN_WRITTEN_BYTES ? 0 : FRONT_BYTES
    const pieces = Math.ceil(length / PIECE_BYTES)
    this.memory = Buffer.allocUnsafeSlow(this.front + pieces * PIECE_ROOM_BYTES + length)
  }

  /** Where in `memory` the content's byte `at` stands. */
  indexOf(at: number): number {
    return this.front + (Math.floor(at / PIECE_BYTES) + 1) * PIECE_ROOM_BYTES + at
  }

  /** Where in the content the piece that `at` lies in ends, or `end` when that comes first. */
  stopOf(at: number, end: number): number {
    return Math.min(end, at - (at % PIECE_BYTES) + PIECE_BYTES)
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

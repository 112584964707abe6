import { MIN_WRITTEN_BYTES, PIECE_BYTES, type Page } from '../wire/page.ts'
import { encoded, type HeaderEncoder } from './encoder.ts'
import type { Output } from './output.ts'
import { FLAG, FRAME } from './protocol.ts'

const EMPTY = Buffer.alloc(0)
/** How much of a page a stream may send per turn. */
const TURN_BYTES = 4 * PIECE_BYTES

/** The connection of a stream, as its outgoing frames see it. */
export interface FramesHost {
  readonly output: Output
  readonly encoder: HeaderEncoder
  /** Bytes of DATA that the client accepts over all streams. */
  window: number
  /** Something was added to the output. */
  touch(): void
}

/** The outgoing frames of one stream after another. */
export class OutgoingFrames {
  id = 0
  /** Bytes of DATA that the client accepts on this stream. */
  window = 0
  readonly #host: FramesHost
  /** Where the last frame is, so that it can still get END_STREAM if it turns out to be the final one and was not sent. */
  #lastAt = 0
  #lastTurn = -1
  /** Whether the last byte was sent with END_STREAM. */
  #ended = false

  constructor(host: FramesHost) {
    this.#host = host
  }

  /** Gets ready for the next stream. */
  begin(id: number, window: number): void {
    this.id = id
    this.window = window
    this.#lastTurn = -1
    this.#ended = false
  }

  /** Adds the header block that was encoded last; it has so many bytes. */
  block(flags: number, length: number): void {
    const { output } = this.#host
    this.#lastAt = output.headers(this.id, flags, encoded, length)
    this.#lastTurn = this.#lastAt < 0 ? -1 : output.turn
    this.#host.touch()
  }

  /**
   * Adds as much of `bytes[at, end)` as the windows allow as DATA, with `once` just one frame. Returns the index of the
   * rest.
   */
  data(bytes: Buffer, at: number, end: number, once = false): number {
    const { output } = this.#host
    while (at < end) {
      const allowed = Math.min(end - at, this.window, this.#host.window)
      const length = allowed > 0 ? output.room(allowed) : 0
      if (length <= 0) break
      this.#lastAt = output.data(this.id, 0, bytes, at, at + length)
      this.#lastTurn = output.turn
      this.window -= length
      this.#host.window -= length
      at += length
      this.#host.touch()
      if (once) break
    }
    return at
  }

  /**
   * Sends as much of a page's content from `at` to `end` as the windows allow, with `once` just one turn's worth. If TLS can
   * take it at once, it is written directly from the page. With `last` the stream ends with it. Returns the index of the
   * rest.
   */
  page(page: Page, at: number, end: number, once: boolean, last: boolean): number {
    const { output } = this.#host
    const limit = once ? Math.min(TURN_BYTES, end - at) : end - at
    const allowed = Math.min(limit, this.window, this.#host.window)
    // An earlier window may have ended within a piece.
    const isWhole = at % PIECE_BYTES === 0
    if (!isWhole || !output.takesPages || allowed < MIN_WRITTEN_BYTES)
      return this.#copyPage(page, at, at + allowed, once || !isWhole)
    if (output.isBusy) return at
    if (!output.fitsBefore(page, at)) return this.#copyPage(page, at, at + allowed, once)
    this.#ended = last && at + allowed === end
    output.page(this.id, this.#ended ? FLAG.endStream : 0, page, at, at + allowed)
    this.#lastTurn = -1
    this.window -= allowed
    this.#host.window -= allowed
    return at + allowed
  }

  #copyPage(page: Page, at: number, end: number, once: boolean): number {
    while (at < end) {
      const index = page.indexOf(at)
      const sent = this.data(page.memory, index, index + page.stopOf(at, end) - at) - index
      at += sent
      if (sent === 0 || once) break
    }
    return at
  }

  /** Ends the stream; `trailers` alternates names in lower case and values. */
  end(trailers: readonly string[]): void {
    const { output, encoder } = this.#host
    if (this.#ended) return
    if (trailers.length > 0) this.block(FLAG.endStream, encoder.trailers(trailers))
    else if (this.#lastTurn === output.turn) output.addFlag(this.#lastAt, FLAG.endStream)
    else output.frame(FRAME.data, FLAG.endStream, this.id, EMPTY)
    this.#host.touch()
  }
}

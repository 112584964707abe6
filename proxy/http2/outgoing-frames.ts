import { MIN_WRITTEN_BYTES, PIECE_BYTES, type Page } from '../wire/page.ts'
import { encoded, type HeaderEncoder } from './encoder.ts'
import type { Output } from './output.ts'
import { FLAG, FRAME } from './protocol.ts'

const EMPTY = Buffer.alloc(0)
/** Streams that take turns have so much of a page written at a time. */
const TURN_BYTES = 4 * PIECE_BYTES

/** The connection of a stream, as what goes out over it sees it. */
export interface FramesHost {
  readonly output: Output
  readonly encoder: HeaderEncoder
  /** Bytes of DATA that the client takes, of all streams. */
  window: number
  /** Something was put into the output. */
  touch(): void
}

/** The frames that go out of one stream after another. */
export class OutgoingFrames {
  id = 0
  /** Bytes of DATA that the client takes. */
  window = 0
  readonly #host: FramesHost
  /** The last frame, which gets END_STREAM when it turns out to be that and has not gone. */
  #lastAt = 0
  #lastTurn = -1
  /** The last byte has gone with END_STREAM. */
  #ended = false

  constructor(host: FramesHost) {
    this.#host = host
  }

  /** Begins with the next stream. */
  begin(id: number, window: number): void {
    this.id = id
    this.window = window
    this.#lastTurn = -1
    this.#ended = false
  }

  /** Puts the header block of so many bytes that was encoded last. */
  block(flags: number, length: number): void {
    const { output } = this.#host
    this.#lastAt = output.headers(this.id, flags, encoded, length)
    this.#lastTurn = this.#lastAt < 0 ? -1 : output.turn
    this.#host.touch()
  }

  /** Puts what may go of `bytes[at, end)` as DATA, with `once` a frame. Answers the index of what may not. */
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
   * Sends what may go of a page's content from `at` to `end`, with `once` a turn's: as it lies in the page where TLS can
   * take it at once. With `last` the stream ends by it. Answers the index of what may not go.
   */
  page(page: Page, at: number, end: number, once: boolean, last: boolean): number {
    const { output } = this.#host
    const most = once ? Math.min(TURN_BYTES, end - at) : end - at
    const allowed = Math.min(most, this.window, this.#host.window)
    // A window may have ended amid a piece.
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

  /** Ends the stream, with trailers: names in lower case and values in turn. */
  end(trailers: readonly string[]): void {
    const { output, encoder } = this.#host
    if (this.#ended) return
    if (trailers.length > 0) this.block(FLAG.endStream, encoder.trailers(trailers))
    else if (this.#lastTurn === output.turn) output.addFlag(this.#lastAt, FLAG.endStream)
    else output.frame(FRAME.data, FLAG.endStream, this.id, EMPTY)
    this.#host.touch()
  }
}

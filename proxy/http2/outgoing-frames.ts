import { encoded, type HeaderEncoder } from './encoder.ts'
import type { Output } from './output.ts'
import { FLAG, FRAME } from './protocol.ts'

const EMPTY = Buffer.alloc(0)

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

  constructor(host: FramesHost) {
    this.#host = host
  }

  /** Begins with the next stream. */
  begin(id: number, window: number): void {
    this.id = id
    this.window = window
    this.#lastTurn = -1
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

  /** Ends the stream, with trailers: names in lower case and values in turn. */
  end(trailers: readonly string[]): void {
    const { output, encoder } = this.#host
    if (trailers.length > 0) this.block(FLAG.endStream, encoder.trailers(trailers))
    else if (this.#lastTurn === output.turn) output.addFlag(this.#lastAt, FLAG.endStream)
    else output.frame(FRAME.data, FLAG.endStream, this.id, EMPTY)
    this.#host.touch()
  }
}

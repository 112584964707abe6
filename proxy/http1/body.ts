import { Chunks } from './chunks.ts'

const NONE = 0
const LENGTH = 1
const CHUNKED = 2
const UNTIL_CLOSE = 3

/** The trailers of most bodies. */
export const NO_TRAILERS: readonly string[] = []

/** Follows the message bodies of a connection, one after the other, and finds where each ends (RFC 9112 6.3). */
export class Body {
  #kind = NONE
  #chunks: Chunks | null = null
  /** Bytes of a body of known length that have not arrived yet. */
  remaining = 0
  /** The index in the output where the last `copy` ended. */
  copiedTo = 0

  /** The message has no body. */
  none(): void {
    this.#kind = NONE
    this.remaining = 0
  }

  length(bytes: number): void {
    this.#kind = LENGTH
    this.remaining = bytes
  }

  chunked(): void {
    this.#kind = CHUNKED
    this.remaining = 0
    this.#chunks ??= new Chunks()
    this.#chunks.reset()
  }

  /** The body ends with its connection. */
  untilClose(): void {
    this.#kind = UNTIL_CLOSE
    this.remaining = 0
  }

  /** How many bytes of data were taken, without the framing of chunks. Only of a body of unknown length. */
  get taken(): number {
    return this.#kind === CHUNKED ? this.#chunks!.taken : 0
  }

  get endsWithConnection(): boolean {
    return this.#kind === UNTIL_CLOSE
  }

  /** Whether its last byte was taken. */
  get done(): boolean {
    if (this.#kind === CHUNKED) return this.#chunks!.done
    return this.#kind !== UNTIL_CLOSE && this.remaining === 0
  }

  /** The fields after its last chunk, alternating names in lower case and values. */
  get trailers(): readonly string[] {
    return this.#kind === CHUNKED ? this.#chunks!.trailers : NO_TRAILERS
  }

  /** Takes the part of `input[at, end)` that belongs to the body. Returns the index after it, or -1 for bad framing. */
  take(input: Buffer, at: number, end: number): number {
    if (this.#kind === CHUNKED) return this.#chunks!.scan(input, at, end)
    if (this.#kind === UNTIL_CLOSE) return end
    const stop = Math.min(end, at + this.remaining)
    this.remaining -= stop - at
    return stop
  }

  /**
   * Like `take`, and copies the data to `output` from `to` on, without the chunk framing if `strip` is set. `copiedTo` is
   * the index after the copy.
   */
  copy(input: Buffer, at: number, end: number, output: Buffer, to: number, strip: boolean): number {
    if (strip) {
      const stop = this.#chunks!.scan(input, at, end, output, to)
      this.copiedTo = this.#chunks!.written
      return stop
    }
    const stop = this.take(input, at, end)
    this.copiedTo = stop < 0 ? to : to + input.copy(output, to, at, stop)
    return stop
  }
}

import { CR, LF } from '../http1/bytes.ts'
import { MAX_HEAD_BYTES, MAX_REQUEST_LINE_BYTES } from '../http1/head.ts'

/** Max bytes that may follow a request whose answer is awaited; then the client is not read any further. */
const MAX_PIPELINED_BYTES = 64 * 1024

/** Bytes of a client that wait: the beginning of a head, or requests that came before the last one was answered. */
export class Pending {
  #bytes: Buffer | null = null

  get length(): number {
    return this.#bytes === null ? 0 : this.#bytes.length
  }

  /** Whether so much waits that no more should be read. */
  get full(): boolean {
    return this.length > MAX_PIPELINED_BYTES
  }

  /** Appends a copy of `input[at, end)`. */
  add(input: Buffer, at: number, end: number): void {
    const piece = input.subarray(at, end)
    this.#bytes = this.#bytes ? Buffer.concat([this.#bytes, piece]) : Buffer.from(piece)
  }

  /** Returns everything and keeps nothing. */
  take(): Buffer | null {
    const bytes = this.#bytes
    this.#bytes = null
    return bytes
  }

  clear(): void {
    this.#bytes = null
  }

  /**
   * Whether a head that was incomplete after `before` bytes can be parsed now, so that dripped bytes do not cost a parse
   * each.
   */
  mayBeParsable(before: number): boolean {
    const bytes = this.#bytes!
    if (bytes.length > MAX_HEAD_BYTES) return true
    if (before <= MAX_REQUEST_LINE_BYTES && bytes.length > MAX_REQUEST_LINE_BYTES) return true
    for (let at = bytes.indexOf(LF, before); at >= 0; at = bytes.indexOf(LF, at + 1)) {
      const line = bytes.lastIndexOf(LF, at - 1)
      if (bytes[at - 1] !== CR || line < 0 || at - line <= 2) return true
    }
    return false
  }
}

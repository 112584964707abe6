import type { Room } from './tail.ts'

/** How many bytes of found lines all readers together may hold until they are sent. */
const ALL_BYTES = 64 * 1024 * 1024
/** The same for one reader: 100,000 lines of typical length. */
const READER_BYTES = 24 * 1024 * 1024

let free = ALL_BYTES

/** How many bytes of found lines one reader may hold: fewer when others hold many. Must be given back. */
export class ReaderRoom implements Room {
  #held = 0

  take(bytes: number): boolean {
    if (bytes > this.left) return false
    this.#held += bytes
    free -= bytes
    return true
  }

  /** How many more bytes it may hold. */
  get left(): number {
    return Math.min(free, READER_BYTES - this.#held)
  }

  /** Gives back the bytes of lines that were sent; all bytes when called without a number. */
  give(bytes = this.#held): void {
    this.#held -= bytes
    free += bytes
  }
}

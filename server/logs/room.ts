import type { Room } from './tail.ts'

/** Lines that were found and not sent yet, of all readers together. */
const ALL_BYTES = 64 * 1024 * 1024
/** Of one reader: 100,000 lines of usual length. */
const READER_BYTES = 24 * 1024 * 1024

let free = ALL_BYTES

/** What one reader may hold of lines that were found: less when others hold much. To be given back. */
export class ReaderRoom implements Room {
  #held = 0

  take(bytes: number): boolean {
    if (bytes > this.left) return false
    this.#held += bytes
    free -= bytes
    return true
  }

  /** How much more it may hold. */
  get left(): number {
    return Math.min(free, READER_BYTES - this.#held)
  }

  /** Gives bytes back that were sent; all without a number. */
  give(bytes = this.#held): void {
    this.#held -= bytes
    free += bytes
  }
}

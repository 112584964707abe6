import type { OutgoingFrames } from './outgoing-frames.ts'

const NOTHING: Buffer[] = []

/** What of an answer the client cannot take yet. */
export class Backlog {
  /** Monotonic milliseconds since when something waits. */
  since = 0
  #pieces = NOTHING
  /** Where the first piece goes on. */
  #at = 0

  get isEmpty(): boolean {
    return this.#pieces.length === 0
  }

  /** Adds bytes, which must stay as they are. */
  add(bytes: Buffer): void {
    if (this.isEmpty) {
      this.since = performance.now()
      this.#pieces = []
    }
    this.#pieces.push(bytes)
  }

  /** Puts what may go of the first piece into `frames`, with `once` a frame. False when nothing may. */
  sendSome(frames: OutgoingFrames, once: boolean): boolean {
    const piece = this.#pieces[0]!
    const at = frames.data(piece, this.#at, piece.length, once)
    if (at === this.#at) return false
    this.#at = at
    if (at === piece.length) {
      this.#at = 0
      this.#pieces.shift()
    }
    return true
  }

  /** Forgets all of it. */
  clear(): void {
    this.#pieces = NOTHING
    this.#at = 0
  }
}

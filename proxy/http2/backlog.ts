import { monotonicMs } from '../clock.ts'
import type { Page } from '../wire/page.ts'
import type { OutgoingFrames } from './outgoing-frames.ts'

/** Bytes that wait, and where they go on. */
interface Waiting {
  readonly source: Buffer | Page
  at: number
  readonly end: number
  /** The answer is complete by them. */
  readonly last: boolean
}

const NOTHING: Waiting[] = []

/** What of an answer the client cannot take yet. */
export class Backlog {
  /** Monotonic milliseconds since when something waits. */
  since = 0
  /** The memory that is held for it: all of a source while some of that waits. */
  bytes = 0
  #waiting = NOTHING

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  /** Adds bytes, which must stay as they are; with `last` the answer is complete by them. */
  add(source: Buffer | Page, at: number, end: number, last = false): void {
    if (this.isEmpty) {
      this.since = monotonicMs()
      this.#waiting = []
    }
    this.bytes += heldBytesOf(source)
    if (!Buffer.isBuffer(source)) source.pins?.add()
    this.#waiting.push({ source, at, end, last })
  }

  /** Puts what may go of the first that waits into `frames`, with `once` a turn's. False when nothing may. */
  sendSome(frames: OutgoingFrames, once: boolean): boolean {
    const first = this.#waiting[0]!
    const { source, at, end, last } = first
    first.at = Buffer.isBuffer(source)
      ? frames.data(source, at, end, once)
      : frames.page(source, at, end, once, last)
    if (first.at === at) return false
    if (first.at === end) {
      this.#waiting.shift()
      this.#letGo(first)
    }
    return true
  }

  /** Forgets all of it. */
  clear(): void {
    for (const waiting of this.#waiting) this.#letGo(waiting)
    this.#waiting = NOTHING
  }

  #letGo({ source }: Waiting): void {
    this.bytes -= heldBytesOf(source)
    if (!Buffer.isBuffer(source)) source.pins?.leave()
  }
}

function heldBytesOf(source: Buffer | Page): number {
  return Buffer.isBuffer(source) ? source.length : source.heldBytes
}

import { monotonicMs } from '../clock.ts'
import type { Page } from '../wire/page.ts'
import type { OutgoingFrames } from './outgoing-frames.ts'

/** Bytes that wait, and how far they were sent. */
interface Waiting {
  readonly source: Buffer | Page
  at: number
  readonly end: number
  /** Whether they complete the answer. */
  readonly last: boolean
}

const NOTHING: Waiting[] = []

/** The part of an answer that the client cannot take yet. */
export class Backlog {
  /** Monotonic milliseconds at which the backlog began. */
  since = 0
  /** Memory that is held: all of a source as long as any of it waits. */
  bytes = 0
  #waiting = NOTHING

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  /** Adds bytes, which the caller must not change; with `last` they complete the answer. */
  add(source: Buffer | Page, at: number, end: number, last = false): void {
    if (this.isEmpty) {
      this.since = monotonicMs()
      this.#waiting = []
    }
    this.bytes += heldBytesOf(source)
    if (!Buffer.isBuffer(source)) source.pins?.add()
    this.#waiting.push({ source, at, end, last })
  }

  /**
   * Moves as much as possible of the first entry into `frames`, with `once` just one turn's worth. False if nothing could be
   * moved.
   */
  sendSome(frames: OutgoingFrames, once: boolean): boolean {
    const first = this.#waiting[0]!
    const { source, at, end, last } = first
    first.at = Buffer.isBuffer(source)
      ? frames.data(source, at, end, once)
      : frames.page(source, at, end, once, last)
    if (first.at === at) return false
    if (first.at === end) {
      this.#waiting.shift()
      this.#release(first)
    }
    return true
  }

  /** Drops everything. */
  clear(): void {
    for (const waiting of this.#waiting) this.#release(waiting)
    this.#waiting = NOTHING
  }

  #release({ source }: Waiting): void {
    this.bytes -= heldBytesOf(source)
    if (!Buffer.isBuffer(source)) source.pins?.leave()
  }
}

function heldBytesOf(source: Buffer | Page): number {
  return Buffer.isBuffer(source) ? source.length : source.heldBytes
}

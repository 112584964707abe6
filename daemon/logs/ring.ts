import { Bell } from '#server/bell.ts'
import type { LogLine } from '#server/log-lines.ts'

/** What a follower may be behind before it misses lines: 50,000 lines of usual length. */
const MAX_BYTES = 8 * 1024 * 1024
/** Handed to a follower at once. */
const BLOCK_BYTES = 64 * 1024

/** Some lines as JSON, each with a newline. */
interface Batch {
  /** The position of its first line, counted from the beginning. */
  first: number
  text: Buffer
  /** Where each line ends in the text. */
  ends: number[]
}

/** What a follower gets next: lines it has missed, then lines, and where it stands then. */
interface Taken {
  lost: number
  text: Buffer
  next: number
}

/** The newest lines of a log, written once and read by any number of followers, each at its own pace. */
export class LineRing {
  readonly grown = new Bell()
  #batches: Batch[] = []
  #bytes = 0
  #next = 0
  /** Followers that keep up all take the same. */
  #lastTaken: { from: number; end: number; taken: Taken } | null = null

  /** The position after the newest line. */
  get end(): number {
    return this.#next
  }

  push(lines: readonly LogLine[]): void {
    if (lines.length === 0) return
    const texts = lines.map((line) => Buffer.from(`${JSON.stringify(line)}\n`))
    let end = 0
    const ends = texts.map(({ length }) => (end += length))
    this.#batches.push({ first: this.#next, text: Buffer.concat(texts), ends })
    this.#next += lines.length
    this.#bytes += end
    while (this.#bytes > MAX_BYTES) this.#bytes -= this.#batches.shift()!.text.length
    this.grown.ring()
  }

  /** The lines at a position and after it, as many as go at once; null when there are none yet. */
  take(position: number): Taken | null {
    if (position >= this.#next) return null
    const memo = this.#lastTaken
    if (memo?.from === position && (memo.end === this.#next || memo.taken.text.length >= BLOCK_BYTES))
      return memo.taken
    const first = Math.max(position, this.#batches[0]?.first ?? this.#next)
    const parts: Buffer[] = []
    let bytes = 0
    let next = first
    for (let index = this.#indexOf(first); index < this.#batches.length && bytes < BLOCK_BYTES; index++) {
      const batch = this.#batches[index]!
      const skipped = next - batch.first
      const part = skipped === 0 ? batch.text : batch.text.subarray(batch.ends[skipped - 1])
      parts.push(part)
      bytes += part.length
      next = batch.first + batch.ends.length
    }
    const text = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
    const taken = { lost: first - position, text, next }
    this.#lastTaken = { from: position, end: this.#next, taken }
    return taken
  }

  /** The position of the last so many lines that are still there. */
  tail(count: number): number {
    return Math.max(this.#batches[0]?.first ?? this.#next, this.#next - count)
  }

  /** The batch that holds a position, found by halving. */
  #indexOf(position: number): number {
    let low = 0
    let high = this.#batches.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (this.#batches[middle]!.first <= position) low = middle
      else high = middle - 1
    }
    return low
  }
}

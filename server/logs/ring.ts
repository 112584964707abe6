import { Bell } from '../work/bell.ts'

/** How far a follower may fall behind before it misses lines: 100,000 lines of typical length. */
const MAX_BYTES = 16 * 1024 * 1024
/** Lines are joined into blocks of this size, which followers get as they are. */
const BLOCK_BYTES = 64 * 1024
const NEWLINE = 0x0a

/** A block of lines as JSON, each with a newline. */
interface Block {
  /** The position of its first line, counted from the beginning. */
  first: number
  text: Buffer
  /** The offset in `text` at which each line ends. */
  ends: number[]
  /** The text after this many of its lines, shared by all followers at that position. */
  rests: Map<number, Buffer>
}

/** What a follower gets next: how many lines it missed, the lines, and its next position. */
interface Taken {
  lost: number
  text: Buffer
  next: number
}

/** The newest lines of a log, formatted once and read by any number of followers, each at its own pace. */
export class LineRing {
  readonly grown = new Bell()
  #blocks: Block[] = []
  #bytes = 0
  #isWhole = false
  #end: number
  readonly #maxBytes: () => number

  /** Creates an empty ring, whose first line will have this position. `maxBytes` says how much it may hold now. */
  constructor(end = 0, maxBytes = () => MAX_BYTES) {
    this.#end = end
    this.#maxBytes = maxBytes
  }

  /** The position after the newest line. */
  get end(): number {
    return this.#end
  }

  /** Adds lines, each with its newline. */
  push(lines: readonly string[]): void {
    let rest: Buffer[] = lines.map((line) => Buffer.from(line))
    while (rest.length > 0) rest = this.#fill(rest)
    while (this.#bytes > this.#maxBytes()) {
      this.#bytes -= this.#blocks.shift()!.text.length
      this.#isWhole = false
    }
    this.grown.ring()
  }

  /**
   * Inserts stored lines before the first one. `isAll` says that no older ones are stored. Only for a ring that has dropped
   * no lines.
   */
  prepend(blocks: readonly Buffer[], isAll: boolean): void {
    this.#isWhole = isAll
    const lines = blocks.map((text) => ({ text, ends: endsOf(text) }))
    let first = this.#start - lines.reduce((sum, { ends }) => sum + ends.length, 0)
    const before = lines.map(({ text, ends }) => {
      const block = { first, text, ends, rests: new Map<number, Buffer>() }
      first += ends.length
      this.#bytes += text.length
      return block
    })
    this.#blocks.unshift(...before)
  }

  /** Whether it contains the last `count` lines of the log, or all that exist. */
  reaches(count: number): boolean {
    return this.#isWhole || this.#end - this.#start >= count
  }

  /** The lines from a position to the end of its block; null when there are none yet. */
  take(position: number): Taken | null {
    if (position >= this.#end) return null
    const start = Math.max(position, this.#start)
    const block = this.#blocks[this.#indexOf(start)]!
    return {
      lost: start - position,
      text: restOf(block, start - block.first),
      next: block.first + block.ends.length,
    }
  }

  /** The position of the last `count` lines, or of the oldest one that is still there. */
  tail(count: number): number {
    return Math.max(this.#start, this.#end - count)
  }

  get #start(): number {
    return this.#blocks[0]?.first ?? this.#end
  }

  /** Adds lines to the last block, or to a new one, until it is full. Returns the lines that are left. */
  #fill(lines: Buffer[]): Buffer[] {
    let block = this.#blocks.at(-1)
    if (!block || block.text.length >= BLOCK_BYTES) {
      block = newBlock(this.#end)
      this.#blocks.push(block)
    }
    let length = block.text.length
    let count = 0
    while (count < lines.length && length < BLOCK_BYTES) block.ends.push((length += lines[count++]!.length))
    this.#bytes += length - block.text.length
    block.text = Buffer.concat([block.text, ...lines.slice(0, count)], length)
    block.rests.clear()
    this.#end += count
    return lines.slice(count)
  }

  /** Finds the block that contains a position, by binary search. */
  #indexOf(position: number): number {
    let low = 0
    let high = this.#blocks.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (this.#blocks[middle]!.first <= position) low = middle
      else high = middle - 1
    }
    return low
  }
}

function newBlock(first: number): Block {
  return { first, text: Buffer.alloc(0), ends: [], rests: new Map() }
}

function endsOf(text: Buffer): number[] {
  const ends: number[] = []
  for (let at = text.indexOf(NEWLINE); at !== -1; at = text.indexOf(NEWLINE, at + 1)) ends.push(at + 1)
  return ends
}

function restOf(block: Block, skipped: number): Buffer {
  if (skipped === 0) return block.text
  const known = block.rests.get(skipped)
  if (known) return known
  const rest = block.text.subarray(block.ends[skipped - 1])
  block.rests.set(skipped, rest)
  return rest
}

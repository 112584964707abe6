import { storedTime, type LineMatcher } from './filter.ts'
import { labelLine } from './labels.ts'
import { searchParts, type NamedLog, type SearchPart, type SharedFilter } from './search-parts.ts'
import { Allowance, readTail } from './tail.ts'

/** Found lines are handed on in blocks of about this size. */
const BLOCK_CHARACTERS = 64 * 1024

/** The newest lines of several logs. */
export interface Newest {
  /** Labelled lines with their newlines, in blocks, oldest first. */
  blocks: string[]
  /** Whether older lines were left out because there was no room. */
  isCut: boolean
  /** Lines before this time were not searched, because there was no time left; null if all were. */
  unsearchedBefore: string | null
}

/**
 * Finds the newest `tail` wanted lines of several logs, merged by time; the lines of each log keep their order. Holds at most
 * `room` bytes of lines, half as many that wait to be merged, and those of the part that is read. Begins no part after `limitMs`.
 */
export async function readNewest(
  logs: readonly NamedLog[],
  filter: SharedFilter,
  tail: number,
  room: number,
  limitMs: number,
): Promise<Newest> {
  const kept = new KeptLines(tail, room)
  if (tail === 0) return kept.result(null)
  const until = performance.now() + limitMs
  for (const part of searchParts(logs, filter)) {
    if (part.newest < kept.floor) break
    if (performance.now() > until) return kept.result(part.newest)
    const { lines, isCut } = await linesOfPart(part, kept.floor, tail, room)
    if (isCut) kept.leaveOut(lines[0]?.ts ?? kept.oldest ?? part.newest)
    kept.add(lines)
  }
  return kept.result(null)
}

interface Line {
  ts: string
  text: string
}

/** The newest wanted lines of a part from a time on: of hundreds of logs, few lines each are among the newest of all. */
async function linesOfPart({ slice, matcher, log }: SearchPart, from: string, tail: number, room: number) {
  const newer: LineMatcher = (block) => matcher(linesFrom(block, from))
  const { blocks, isCut } = await readTail([slice], newer, tail, new Allowance(room))
  const deployOf = (instance: string) => log.deploys.get(instance)
  const lines = blocks.flatMap((block): Line[] => {
    const stored = block.toString('utf8').split('\n').slice(0, -1)
    return stored.map((line) => ({
      ts: storedTime(line),
      text: `${labelLine(line, log.service, deployOf)}\n`,
    }))
  })
  return { lines, isCut }
}

/** The lines of a block from a time on. Most blocks have none: finding that out costs less than to match their lines. */
function linesFrom(block: string, from: string): string {
  let wanted = ''
  let [start, end] = [0, 0]
  for (let at = 0; at < block.length; at = end) {
    end = block.indexOf('\n', at) + 1 || block.length
    if (storedTime(block, at) >= from) continue
    wanted += block.slice(start, at)
    start = end
  }
  return wanted + block.slice(start)
}

/** The newest lines so far, oldest first. */
class KeptLines {
  readonly #tail: number
  readonly #room: number
  #lines: Line[] = []
  /** Lines of parts that wait to be merged, last added first: of hundreds of logs, each has few. */
  #added: Line[][] = []
  #addedCount = 0
  #addedBytes = 0
  /** Older lines are left out, because there is no room for all of them. */
  #leftOut = ''

  constructor(tail: number, room: number) {
    this.#tail = tail
    this.#room = room
  }

  /** Older lines are not wanted. */
  get floor(): string {
    return this.#lines.length === this.#tail ? this.#lines[0]!.ts : this.#leftOut
  }

  get oldest(): string | undefined {
    this.#merge()
    return this.#lines[0]?.ts
  }

  /** Leaves out all lines before a time. */
  leaveOut(before: string): void {
    this.#merge()
    if (before > this.#leftOut) this.#leftOut = before
    this.#lines = this.#lines.filter(({ ts }) => ts >= this.#leftOut)
  }

  /** Adds lines of a part, which come before those of later parts of the same log. */
  add(lines: Line[]): void {
    const wanted = lines.filter(({ ts }) => ts >= this.#leftOut)
    if (wanted.length === 0) return
    this.#added.unshift(wanted)
    this.#addedCount += wanted.length
    for (const { text } of wanted) this.#addedBytes += text.length
    if (this.#addedCount >= this.#tail / 2 || this.#addedBytes >= this.#room / 2) this.#merge()
  }

  #merge(): void {
    if (this.#added.length === 0) return
    const all = mergedByTime([...this.#added, this.#lines]).slice(-this.#tail)
    this.#added = []
    this.#addedCount = this.#addedBytes = 0
    let bytes = 0
    const last = all.findLastIndex(({ text }) => (bytes += text.length) > this.#room)
    this.#lines = all.slice(last + 1)
    if (last >= 0) this.leaveOut(this.#lines[0]?.ts ?? all[last]!.ts)
  }

  result(unsearchedBefore: string | null): Newest {
    this.#merge()
    if (unsearchedBefore !== null) this.#lines = this.#lines.filter(({ ts }) => ts >= unsearchedBefore)
    const blocks: string[] = []
    let block = ''
    for (const { text } of this.#lines) {
      block += text
      if (block.length < BLOCK_CHARACTERS) continue
      blocks.push(block)
      block = ''
    }
    if (block !== '') blocks.push(block)
    return { blocks, isCut: this.#leftOut !== '', unsearchedBefore }
  }
}

/** Merges lists whose times mostly rise. Each keeps its order; at the same time those of earlier lists come first. */
export function mergedByTime<T extends { ts: string }>(lists: readonly (readonly T[])[]): readonly T[] {
  if (lists.length <= 1) return lists[0] ?? []
  // By halves, so that no line is moved once for each list.
  const middle = lists.length >> 1
  const first = mergedByTime(lists.slice(0, middle))
  const second = mergedByTime(lists.slice(middle))
  const merged: T[] = []
  let at = 0
  for (const line of first) {
    while (at < second.length && second[at]!.ts < line.ts) merged.push(second[at++]!)
    merged.push(line)
  }
  for (; at < second.length; at++) merged.push(second[at]!)
  return merged
}

import { timestamp } from '#server/clock.ts'
import { cleanLine } from '#server/text/clean-line.ts'
import type { OutputLine } from '../engine/index.ts'
import { endOfKnown, STREAMS } from './seam.ts'

/** Lines kept of each stream, to find the position again after the engine or the server was away. */
export const KNOWN_LINES = 512
/** Max characters of these lines, besides the newest: long lines differ, so few are enough. */
const KNOWN_LENGTH = 256 * 1024

/** The last lines of a container that were passed on, as logs show them. */
export class KnownLines {
  readonly #lines: Record<OutputLine['stream'], OutputLine[]> = { stdout: [], stderr: [] }
  #since: string | null

  /** Even without any line, everything before `since` counts as known. */
  constructor(since: string | null = null) {
    this.#since = since
  }

  add(lines: readonly OutputLine[]): void {
    for (const stream of STREAMS) {
      const added = lines.filter((line) => line.stream === stream).slice(-KNOWN_LINES)
      if (added.length > 0) this.#lines[stream] = newestOf([...this.#lines[stream], ...added.map(shown)])
    }
  }

  /** Returns the time `earlierMs` before the newest line, in the engine's format; null if nothing is known. */
  since(earlierMs: number): string | null {
    const newest = this.#newest()
    return newest ? engineMoment(Date.parse(newest.ts) - earlierMs) : this.#since
  }

  /**
   * Returns the lines of the log that were not passed on yet; null if the newest known line is not in it, because a clock
   * was changed or lines came very late. If the log is whole, the times then decide which lines are new.
   */
  after(logged: readonly OutputLine[], isWhole: boolean): OutputLine[] | null {
    const newest = this.#newest()
    const fresh = new Set<OutputLine>()
    for (const stream of STREAMS) {
      const ofStream = logged.filter((line) => line.stream === stream)
      const place = endOfKnown(ofStream.map(shown), this.#lines[stream])
      const last = this.#lines[stream].at(-1)
      if (place === -1 && !isWhole && last === newest) return null
      const isNew = (line: OutputLine, index: number) => (place === -1 ? line.ts > last!.ts : index >= place)
      for (const [index, line] of ofStream.entries()) if (isNew(line, index)) fresh.add(line)
    }
    return logged.filter((line) => fresh.has(line))
  }

  #newest(): OutputLine | undefined {
    const [one, other] = STREAMS.map((stream) => this.#lines[stream].at(-1))
    return one && other ? (one.ts < other.ts ? other : one) : (one ?? other)
  }
}

function newestOf(lines: OutputLine[]): OutputLine[] {
  let first = lines.length - 1
  let length = lines[first]!.line.length
  const last = Math.max(0, lines.length - KNOWN_LINES)
  while (first > last && (length += lines[first - 1]!.line.length) <= KNOWN_LENGTH) first--
  return lines.slice(first)
}

function shown(line: OutputLine): OutputLine {
  return { ...line, line: cleanLine(line.line) }
}

/** Returns a timestamp with nine fractional digits, so that it compares as text with the engine's. */
export function engineMoment(milliseconds: number): string {
  return timestamp(milliseconds).replace('Z', '000000Z')
}

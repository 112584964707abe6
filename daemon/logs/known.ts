import { timestamp } from '#server/clock.ts'
import { cleanLine } from '#server/text/clean-line.ts'
import type { OutputLine } from '../engine/index.ts'
import { endOfKnown, STREAMS } from './seam.ts'

/** Lines kept of each stream, to find the place again when the engine or the server was away. */
export const KNOWN_LINES = 512
/** Characters of them, but for the newest: long lines differ, so that few are enough. */
const KNOWN_LENGTH = 256 * 1024

/** The last lines of a container that were handed on, as logs show them. */
export class KnownLines {
  readonly #lines: Record<OutputLine['stream'], OutputLine[]> = { stdout: [], stderr: [] }
  #since: string | null

  /** Without any line, everything before `since` is known too. */
  constructor(since: string | null = null) {
    this.#since = since
  }

  add(lines: readonly OutputLine[]): void {
    for (const stream of STREAMS) {
      const added = lines.filter((line) => line.stream === stream).slice(-KNOWN_LINES)
      if (added.length > 0) this.#lines[stream] = newestOf([...this.#lines[stream], ...added.map(shown)])
    }
  }

  /** The moment of the newest, as the engine takes it, or so much before; null when nothing is known. */
  since(earlierMs: number): string | null {
    const newest = this.#newest()
    return newest ? engineMoment(Date.parse(newest.ts) - earlierMs) : this.#since
  }

  /**
   * Of what the log has, what was not handed on yet: null where the newest known line is not found in it. That may be as
   * clocks were set or lines came very late; of the whole log, the times tell what is new then.
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

/** A moment with nine digits of the second, so that it compares as text with the engine's. */
export function engineMoment(milliseconds: number): string {
  return timestamp(milliseconds).replace('Z', '000000Z')
}

import { timestamp } from '#server/clock.ts'
import { cleanLine } from '#server/log-lines.ts'
import type { OutputLine } from '../engine/index.ts'
import { afterKnown } from './seam.ts'

/** Lines kept of each stream, to find the place again when the engine or the server was away. */
export const KNOWN_LINES = 64

const STREAMS = ['stdout', 'stderr'] as const

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
      if (added.length > 0)
        this.#lines[stream] = [...this.#lines[stream], ...added.map(shown)].slice(-KNOWN_LINES)
    }
  }

  /** The moment of the newest, as the engine takes it, or so much before; null when nothing is known. */
  since(earlierMs: number): string | null {
    const moments = STREAMS.flatMap((stream) => this.#lines[stream].at(-1)?.ts ?? [])
    if (moments.length === 0) return this.#since
    return engineMoment(Math.max(...moments.map((moment) => Date.parse(moment))) - earlierMs)
  }

  /** Of what the log has since, what was not handed on yet. */
  after(logged: readonly OutputLine[]): OutputLine[] {
    const fresh = new Set(
      STREAMS.flatMap((stream) => {
        const ofStream = logged.filter((line) => line.stream === stream)
        const left = afterKnown(ofStream.map(shown), this.#lines[stream]).length
        return ofStream.slice(ofStream.length - left)
      }),
    )
    return logged.filter((line) => fresh.has(line))
  }
}

function shown(line: OutputLine): OutputLine {
  return { ...line, line: cleanLine(line.line) }
}

/** A moment with nine digits of the second, so that it compares as text with the engine's. */
export function engineMoment(milliseconds: number): string {
  return timestamp(milliseconds).replace('Z', '000000Z')
}

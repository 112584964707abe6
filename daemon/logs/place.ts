import type { LineCounts } from '#server/logs/system-lines.ts'
import type { OutputLine } from '../engine/index.ts'
import { KnownLines } from './known.ts'

export type Stream = OutputLine['stream']
export const STREAMS: readonly Stream[] = ['stdout', 'stderr']

/** A place in the engine's log: so many lines of each stream from the line with this time on, which alone tells lines of one text apart. */
export interface Mark extends LineCounts {
  /** The beginning of the log for null. */
  time: string | null
}

/** How far the output of a container was handed on. */
export class Place {
  /** The engine's id of the container; null until it was met. */
  container: string | null
  /** Null while the place has to be found by the text of what is known. */
  mark: Mark | null
  known: KnownLines
  /** Whether all that is printed comes here, and nothing has to be read from the log. */
  isLive = false
  /** When the last lines were passed. */
  #passedAt = performance.now()

  constructor(
    container: string | null = null,
    mark: Mark | null = { time: null, stdout: 0, stderr: 0 },
    known = new KnownLines(),
  ) {
    this.container = container
    this.mark = mark
    this.known = known
  }

  /** Takes note of lines that are handed on. */
  pass(lines: readonly OutputLine[]): void {
    if (this.mark) for (const { stream } of lines) this.mark[stream]++
    this.known.add(lines)
    this.#passedAt = performance.now()
  }

  /** For how long nothing was passed. */
  silentMs(): number {
    return performance.now() - this.#passedAt
  }

  /** Counts from a later line of the same log: of what was passed at the moment of `from`, `to` is left to count. */
  advance(from: Mark, to: Mark): void {
    if (!this.mark || this.mark.time !== from.time) return
    this.mark.time = to.time
    for (const stream of STREAMS) this.mark[stream] -= from[stream] - to[stream]
  }

  /** Goes to the beginning of another container's log. */
  begin(container: string): void {
    this.container = container
    this.mark = { time: null, stdout: 0, stderr: 0 }
    this.known = new KnownLines()
  }
}

/** How many lines of each stream there are. */
export function countsOf(lines: readonly OutputLine[]): LineCounts {
  const stderr = lines.filter(({ stream }) => stream === 'stderr').length
  return { stdout: lines.length - stderr, stderr }
}

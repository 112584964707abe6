import { timestamp } from '../clock.ts'
import type { LogLine } from '../log-lines.ts'

/** How many lines of each stream. */
export interface LineCounts {
  stdout: number
  stderr: number
}

const STREAMS = ['stdout', 'stderr'] as const
const LOST_OF_ONE = /^(\d+) lines? (?:was|were) lost here: .*, (stdout|stderr)$/

/** A line of the server's own in a log. */
export function systemLine(line: string): LogLine {
  return { ts: timestamp(Date.now()), stream: 'system', line }
}

/** One that says how many lines are missing at its place. */
export function lostLine(count: number, why: string): LogLine {
  return systemLine(`${count === 1 ? '1 line was' : `${count} lines were`} lost here: ${why}`)
}

/** Adds to the counts what a line of an instance stands for: itself, or the lost ones that it tells of. */
export function countLine({ stream, line }: LogLine, counts: LineCounts): void {
  if (stream !== 'system') counts[stream]++
  else {
    const [, count, lost] = LOST_OF_ONE.exec(line) ?? []
    if (lost === 'stdout' || lost === 'stderr') counts[lost] += Number(count)
  }
}

/** Lines that are not stored, by instance and stream: who goes on in an instance's output has to know of each. */
export class LostLines {
  readonly #counts = new Map<string | undefined, LineCounts>()

  get isEmpty(): boolean {
    return this.#counts.size === 0
  }

  /** Of what the server says only what was lost before counts. */
  add(lines: readonly LogLine[]): void {
    for (const line of lines) {
      const counts = this.#counts.get(line.instance) ?? { stdout: 0, stderr: 0 }
      this.#counts.set(line.instance, counts)
      countLine(line, counts)
    }
  }

  /** Lines that tell of them, for the place where they are missing; none is counted any more then. */
  take(why: string): LogLine[] {
    const told = [...this.#counts].flatMap(([instance, counts]) =>
      STREAMS.filter((stream) => counts[stream] > 0).map((stream) => ({
        ...lostLine(counts[stream], `${why}, ${stream}`),
        ...(instance === undefined ? {} : { instance }),
      })),
    )
    this.#counts.clear()
    return told
  }
}

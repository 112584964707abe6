import type { Engine, OutputLine } from '../engine/index.ts'
import type { KnownLines } from './known.ts'

/** Lines handed on at once. */
const BATCH_LINES = 500
/** What is read again before the last known line, which may have come late. */
const OVERLAP_MS = 5_000
/** The end of the log is read with so many lines more than are looked for: what is older costs the engine time. */
const SLACK_LINES = 500

/** The engine's log of one container, for one attachment to it of a reader who knows a part of it already. */
export class EngineLog {
  /** When it was attached to: each later line comes live too. */
  readonly since: string
  readonly #engine: Engine
  readonly #id: string
  readonly #known: KnownLines
  readonly #signal: AbortSignal
  /** Those later than `since` that are known already: a clock was set back. */
  #passed: OutputLine[] = []

  constructor(engine: Engine, id: string, known: KnownLines, since: string, signal: AbortSignal) {
    this.since = since
    this.#engine = engine
    this.#id = id
    this.#known = known
    this.#signal = signal
  }

  /** What is not known yet, oldest first. */
  async *unknown(): AsyncGenerator<OutputLine[]> {
    const newest = this.#known.since(OVERLAP_MS)
    if (newest !== null) return yield* batches(await this.#after(newest))
    let lines: OutputLine[] = []
    for await (const line of this.#read({})) {
      lines.push(line)
      if (lines.length < BATCH_LINES) continue
      yield lines
      lines = []
    }
    if (lines.length > 0) yield lines
  }

  /** What was printed since it was attached to, and not known then; `expected` says about how much that may be. */
  async recent(expected: number): Promise<OutputLine[]> {
    let lines = await this.#all({ tail: 2 * expected + this.#passed.length + SLACK_LINES })
    if (lines[0] && lines[0].ts >= this.since) lines = await this.#all({ since: this.since })
    const left = { stdout: 0, stderr: 0 }
    for (const { stream } of this.#passed) left[stream]++
    return lines.filter(({ ts, stream }) => ts >= this.since && left[stream]-- <= 0)
  }

  /** What is known already is looked for in the whole of what is read. */
  async #after(newest: string): Promise<OutputLine[]> {
    // What was printed since a clock was set back is earlier than what is known.
    const isWhole = newest > this.since
    let lines = await this.#all(isWhole ? {} : { since: newest })
    let fresh = this.#known.after(lines, isWhole)
    if (!fresh) {
      lines = await this.#all({})
      fresh = this.#known.after(lines, true)!
    }
    const isFresh = new Set(fresh)
    this.#passed = lines.filter((line) => line.ts >= this.since && !isFresh.has(line))
    return fresh
  }

  async #all(options: { tail?: number; since?: string }): Promise<OutputLine[]> {
    const lines: OutputLine[] = []
    for await (const line of this.#read(options)) lines.push(line)
    return lines
  }

  #read(options: { tail?: number; since?: string }): AsyncGenerator<OutputLine> {
    return this.#engine.output.logs(this.#id, { ...options, signal: this.#signal })
  }
}

function* batches(lines: OutputLine[]): Generator<OutputLine[]> {
  for (let at = 0; at < lines.length; at += BATCH_LINES) yield lines.slice(at, at + BATCH_LINES)
}

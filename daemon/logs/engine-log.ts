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
  /** Whether a line may be begun whose end comes live. */
  readonly #isRunning: boolean
  readonly #signal: AbortSignal
  /** The last line that was read. */
  #last: OutputLine | null = null

  constructor(
    engine: Engine,
    { id, running }: { id: string; running: boolean },
    known: KnownLines,
    since: string,
    signal: AbortSignal,
  ) {
    this.since = since
    this.#engine = engine
    this.#id = id
    this.#known = known
    this.#isRunning = running
    this.#signal = signal
  }

  /** What is not known yet, oldest first. Throws when the signal aborts: what was read may be cut then. */
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

  /**
   * What the log got since it was last read; `expected` says about how much that may be. Where it is more, nothing of
   * before `from` is wanted. Throws as `unknown` does.
   */
  async more(expected: number, from = this.since): Promise<OutputLine[]> {
    const last = this.#last
    // A long line has the time of its beginning, which may have been there before.
    if (!last) return this.#all({ since: this.#known.since(OVERLAP_MS) ?? undefined })
    const isLast = ({ ts, stream }: OutputLine) => ts === last.ts && stream === last.stream
    const end = await this.#all({ tail: expected + SLACK_LINES })
    const place = end.findLastIndex(isLast)
    if (place !== -1) return end.slice(place + 1)
    // More than was expected. The last line is later than the others where a clock was set back.
    const earliest = last.ts < this.since ? last.ts : this.since
    const all = await this.#all({ since: from > this.since ? from : earliest })
    return all.slice(all.findLastIndex(isLast) + 1)
  }

  /** What is known already is looked for in the whole of what is read. */
  async #after(newest: string): Promise<OutputLine[]> {
    // What was printed since a clock was set back is earlier than what is known.
    if (newest > this.since) return this.#known.after(await this.#all({}), true)!
    const fresh = this.#known.after(await this.#all({ since: newest }), false)
    return fresh ?? this.#known.after(await this.#all({}), true)!
  }

  async #all(options: { tail?: number; since?: string }): Promise<OutputLine[]> {
    const lines: OutputLine[] = []
    for await (const line of this.#read(options)) lines.push(line)
    return lines
  }

  async *#read(options: { tail?: number; since?: string }): AsyncGenerator<OutputLine> {
    const [wholeOnly, signal] = [this.#isRunning, this.#signal]
    for await (const line of this.#engine.output.logs(this.#id, { ...options, wholeOnly, signal })) {
      this.#last = line
      yield line
    }
    this.#signal.throwIfAborted()
  }
}

function* batches(lines: OutputLine[]): Generator<OutputLine[], void> {
  for (let at = 0; at < lines.length; at += BATCH_LINES) yield lines.slice(at, at + BATCH_LINES)
}

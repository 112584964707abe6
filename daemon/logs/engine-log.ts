import type { Engine, OutputLine } from '../engine/index.ts'
import type { KnownLines } from './known.ts'

/** Lines per batch. */
const BATCH_LINES = 500
/** How far before the last known line the log is read again, because that line may have arrived late. */
const OVERLAP_MS = 5_000
/** How many extra lines are read at the end of the log; not more, because older lines cost the engine time. */
const SLACK_LINES = 500

/** The engine's log of one container during one attachment, for a reader that knows a part of it already. */
export class EngineLog {
  /** When it was attached: each later line also arrives live. */
  readonly since: string
  readonly #engine: Engine
  readonly #id: string
  readonly #known: KnownLines
  /** Whether the last line may be incomplete, because its end arrives live. */
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

  /** Yields the lines that are not known yet, oldest first. Throws when the signal aborts: what was read may be incomplete. */
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
   * Returns the lines that the log got since it was last read; `expected` is about how many that may be. If there are more,
   * lines before `from` are not needed. Throws as `unknown` does.
   */
  async more(expected: number, from = this.since): Promise<OutputLine[]> {
    const last = this.#last
    // A long line has the time of its beginning, which may be before the last read.
    if (!last) return this.#all({ since: this.#known.since(OVERLAP_MS) ?? undefined })
    const isLast = ({ ts, stream }: OutputLine) => ts === last.ts && stream === last.stream
    const end = await this.#all({ tail: expected + SLACK_LINES })
    const place = end.findLastIndex(isLast)
    if (place !== -1) return end.slice(place + 1)
    // More than expected. If a clock was set back, the last line is later than the others.
    const earliest = last.ts < this.since ? last.ts : this.since
    const all = await this.#all({ since: from > this.since ? from : earliest })
    return all.slice(all.findLastIndex(isLast) + 1)
  }

  /** Reads from the newest known line on, or everything if needed, and removes the known lines. */
  async #after(newest: string): Promise<OutputLine[]> {
    // After a clock was set back, new lines are earlier than known ones.
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

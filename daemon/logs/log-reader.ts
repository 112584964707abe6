import type { Engine, OutputLine } from '../engine/index.ts'
import { countsOf, type Mark, type Place, type Stream } from './place.ts'

/** Lines handed on at once. */
const BATCH_LINES = 500
/** Read from the end of the log at first, beyond what was passed; then so many times more. */
const FIRST_LINES = 200
const MORE_TIMES = 16
/** More than that are looked for in the whole log. */
const MOST_LINES = 200_000
/** What is read again before the last known line, where text has to tell: clocks are corrected now and then. */
const OVERLAP_MS = 2_000

/** Reads what the engine's log of a container has after a place. */
export class LogReader {
  readonly #engine: Engine
  readonly #id: string
  readonly #place: Place
  readonly #signal: AbortSignal
  /** Tells that lines may be missing at the place that is reached, and why. */
  readonly #onGap: (why: string) => void

  constructor(engine: Engine, id: string, place: Place, signal: AbortSignal, onGap: (why: string) => void) {
    this.#engine = engine
    this.#id = id
    this.#place = place
    this.#signal = signal
    this.#onGap = onGap
  }

  /**
   * What the log has after the place, in batches, each of which the place has passed when it comes. Of a run that goes on,
   * which began at `growingSince`, a line that has no end yet is left for later.
   */
  async *unread(growingSince: string | null): AsyncGenerator<OutputLine[]> {
    const { mark } = this.#place
    for (const tail of mark ? windows(mark) : []) {
      let isFound = false
      for await (const lines of this.#after({ ...mark! }, tail, growingSince)) {
        isFound = true
        if (lines.length === 0) continue
        this.#place.pass(lines)
        yield lines
      }
      if (isFound) return
    }
    const lines = await this.#unknown(growingSince)
    if (lines.length > 0) yield lines
  }

  /** The first line of a stream after the place; null when the log does not have it yet. */
  async next(stream: Stream, growingSince: string | null): Promise<OutputLine | null> {
    const { mark } = this.#place
    for (const tail of mark ? windows(mark) : []) {
      let isFound = false
      for await (const lines of this.#after({ ...mark! }, tail, growingSince)) {
        isFound = true
        const line = lines.find((each) => each.stream === stream)
        if (line) return line
      }
      if (isFound) break
    }
    return null
  }

  /** A later mark of the same log for what `from` has passed, so that less has to be read; null when the log has it no more. */
  async advanced(from: Mark): Promise<Mark | null> {
    if (from.stdout + from.stderr === 0) return from
    for (const tail of windows(from)) {
      const left = { stdout: from.stdout, stderr: from.stderr }
      let to: Mark | null = null
      let time = ''
      for await (const { ts, stream, isFault } of this.#from(from.time, tail, null)) {
        if (isFault || left[stream] === 0) break
        // The first of its time: it is found again by that.
        if (ts !== time) to = { time: (time = ts), ...left }
        left[stream]--
      }
      if (to) return to
    }
    this.#signal.throwIfAborted()
    return null
  }

  /** A mark near the end of the log for all that it has; null for a log of a few lines, or one that cannot be read. */
  async latest(): Promise<Mark | null> {
    const lines: OutputLine[] = []
    for await (const line of this.#engine.output.logs(this.#id, { tail: FIRST_LINES, signal: this.#signal }))
      lines.push(line)
    this.#signal.throwIfAborted()
    const at = lines.findIndex(({ ts }, index) => index > 0 && ts !== lines[index - 1]!.ts)
    if (at === -1 || lines.some(({ isFault }) => isFault)) return null
    return { time: lines[at]!.ts, ...countsOf(lines.slice(at)) }
  }

  /** After a mark; first an empty batch, once it is found. */
  async *#after(
    mark: Mark,
    tail: number | undefined,
    growingSince: string | null,
  ): AsyncGenerator<OutputLine[]> {
    const left = { stdout: mark.stdout, stderr: mark.stderr }
    let isFound = false
    let lines: OutputLine[] = []
    for await (const line of this.#from(mark.time, tail, growingSince)) {
      if (!isFound) {
        isFound = true
        yield lines
        if (mark.time === null && this.#place.mark?.time === null) this.#place.mark.time = line.ts
      }
      if (line.isFault) {
        if (lines.length > 0) yield lines
        this.#place.mark = null
        return this.#onGap(line.line)
      }
      if (left[line.stream] > 0) {
        left[line.stream]--
        continue
      }
      lines.push(line)
      if (lines.length < BATCH_LINES) continue
      yield lines
      lines = []
    }
    if (lines.length > 0 || (mark.time === null && !isFound)) yield lines
  }

  /** The log from the first line of a time on; nothing when it is not met where it can be told to be the first. */
  async *#from(
    time: string | null,
    tail: number | undefined,
    growingSince: string | null,
  ): AsyncGenerator<OutputLine> {
    let isMet = time === null
    let isFirst = true
    for await (const line of this.#engine.output.logs(this.#id, {
      tail,
      growingSince,
      signal: this.#signal,
    })) {
      // Of a window that begins there, others of the same time may stand before it.
      isMet ||= line.ts === time && !line.isFault && (tail === undefined || !isFirst)
      if (isFirst && !isMet && line.ts === time) return
      isFirst = false
      if (isMet) yield line
    }
  }

  /** Where the mark is not in the log: what is not known by its text, or by its time. */
  async #unknown(growingSince: string | null): Promise<OutputLine[]> {
    const { known } = this.#place
    const since = known.since(OVERLAP_MS) ?? undefined
    const logged: OutputLine[] = []
    for await (const line of this.#engine.output.logs(this.#id, {
      since,
      growingSince,
      signal: this.#signal,
    }))
      logged.push(line)
    this.#signal.throwIfAborted()
    const lines = logged.filter(({ isFault }) => !isFault)
    const { fresh, isMet } = known.after(lines, since)
    if (!isMet) this.#onGap('the engine has not kept all that was printed here')
    const first = lines[0]
    const isWhole = lines.length === logged.length && (first !== undefined || since === undefined)
    this.#place.pass(fresh)
    if (isWhole) this.#place.mark = { time: first?.ts ?? null, ...countsOf(lines) }
    else this.#place.mark = null
    return fresh
  }
}

/** How many lines from the end of the log are looked at to find a mark: more and more, then all. */
function* windows({ time, stdout, stderr }: Mark): Generator<number | undefined> {
  const passed = stdout + stderr
  for (let tail = passed + FIRST_LINES; time !== null && tail < MOST_LINES; tail *= MORE_TIMES) yield tail
  yield undefined
}

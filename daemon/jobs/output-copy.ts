import { setTimeout as delay } from 'node:timers/promises'
import { parseLines, readLog, type LogWriter } from '#server/logs/files.ts'
import { reportsLoss, type LogLine } from '#server/logs/lines.ts'
import type { Engine, OutputLine } from '../engine/index.ts'
import { toLogLine } from '../logs/follow.ts'
import { readOutput } from '../logs/output.ts'

/** How many lines of the program's output a failure shows. */
const SHOWN_LINES = 20
/** The output of an ended program is complete when nothing has arrived for this long. */
const STALL_MS = 10_000

/** What a log already has of one stream of a container. */
interface KnownOutput {
  lines: number
  first: string
  lastTs: string
  /** How many of its last lines have that timestamp. */
  ofLastTs: number
  /** Whether the known lines can be skipped by count, because the engine still has the first one; null until it is known. */
  isWhole: boolean | null
}

/** Copies all output of a container into a log, and continues where an earlier copy ended. */
export class OutputCopy {
  /** The newest few lines. */
  readonly lastLines: string[] = []
  readonly #engine: Engine
  readonly #name: string
  readonly #logId: string
  readonly #log: LogWriter
  readonly #signal: AbortSignal
  #copied: Promise<void> = Promise.resolve()
  #progress = 0
  /** Whether the log says that earlier lines are missing in it. */
  #hasGap = false

  constructor(engine: Engine, name: string, logId: string, log: LogWriter, signal: AbortSignal) {
    this.#engine = engine
    this.#name = name
    this.#logId = logId
    this.#log = log
    this.#signal = signal
  }

  /**
   * Attaches before the container's program is started, so that no output is missed; this does not depend on the engine's
   * log and its rotation. Throws `runtime_error`.
   */
  async attach(): Promise<void> {
    const live = await this.#engine.output.attach(this.#name, this.#signal)
    this.#copied = this.#copyAttached(live)
  }

  /** Continues where the log ends, from the engine's log. */
  resume(): void {
    this.#copied = this.#copyRest().catch(() => {})
  }

  /** Waits for the last line of a program that has ended. */
  async finish(): Promise<void> {
    for (let before = -1; before !== this.#progress;) {
      before = this.#progress
      const over = this.#copied.then(() => true)
      if (await Promise.race([over, delay(STALL_MS, false, { ref: false })])) return
    }
  }

  async #copyAttached(live: AsyncIterable<OutputLine[]>): Promise<void> {
    try {
      for await (const lines of live) await this.#write(lines)
      if (this.#signal.aborted) return
      if ((await this.#engine.containers.inspect(this.#name))?.running !== true) return
    } catch {
      // The engine went away; its log has what was printed meanwhile.
    }
    await this.#copyRest().catch(() => {})
  }

  async #copyRest(): Promise<void> {
    await this.#log.flushed()
    const held = await this.#readHeld()
    const output = readOutput(this.#engine, this.#name, { untilEnd: true, signal: this.#signal })
    for await (const lines of output) await this.#write(lines.filter((line) => this.#isNew(line, held)))
  }

  async #write(lines: readonly OutputLine[]): Promise<void> {
    this.#progress++
    for (const output of lines) {
      const line = toLogLine(this.#name, output)
      this.#log.write(line)
      this.#remember(line)
    }
    await this.#log.ready()
  }

  /** Skips known lines by count if this log has all lines from the engine's first on; otherwise by time. */
  #isNew(output: OutputLine, held: Map<LogLine['stream'], KnownOutput>): boolean {
    const known = held.get(output.stream)
    if (!known) return true
    const { ts, line } = toLogLine(this.#name, output)
    if (known.isWhole === null) {
      known.isWhole = !this.#hasGap && known.first === line
      if (!known.isWhole)
        this.#log.system(`some earlier output on ${output.stream} was not kept: lines may be missing here`)
    }
    if (known.isWhole) return known.lines-- <= 0
    return ts === known.lastTs ? known.ofLastTs-- <= 0 : ts > known.lastTs
  }

  #remember({ line }: LogLine): void {
    this.lastLines.push(line)
    if (this.lastLines.length > SHOWN_LINES) this.lastLines.shift()
  }

  async #readHeld(): Promise<Map<LogLine['stream'], KnownOutput>> {
    const held = new Map<LogLine['stream'], KnownOutput>()
    for await (const block of readLog(this.#logId, () => false, this.#signal)) {
      for (const line of parseLines(block)) {
        this.#hasGap ||= reportsLoss(line)
        if (line.instance !== this.#name) continue
        const known = held.get(line.stream)
        held.set(line.stream, {
          lines: (known?.lines ?? 0) + 1,
          first: known?.first ?? line.line,
          lastTs: line.ts,
          ofLastTs: known?.lastTs === line.ts ? known.ofLastTs + 1 : 1,
          isWhole: null,
        })
        this.#remember(line)
      }
    }
    return held
  }
}

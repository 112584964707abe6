import { setTimeout as delay } from 'node:timers/promises'
import { parseLines, readLog, type LogWriter } from '#server/log-files.ts'
import type { LogLine } from '#server/log-lines.ts'
import { tellsLoss } from '#server/logs/system-lines.ts'
import type { Engine, OutputLine } from '../engine/index.ts'
import { toLogLine } from '../logs/follow.ts'
import { readOutput } from '../logs/output.ts'

/** Lines of the program's own output that a failure shows. */
const SHOWN_LINES = 20
/** Output of an ended program that has not gone on for this long is over. */
const STALL_MS = 10_000

/** What a log already holds of one stream of a container. */
interface Held {
  lines: number
  first: string
  lastTs: string
  /** Whether the engine still has the first line; null until that is seen. */
  isWhole: boolean | null
}

/** Copies what a container prints into a log, all of it, going on where an earlier copy ended. */
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

  constructor(engine: Engine, name: string, logId: string, log: LogWriter, signal: AbortSignal) {
    this.#engine = engine
    this.#name = name
    this.#logId = logId
    this.#log = log
    this.#signal = signal
  }

  /**
   * Begins before the container's program is started, so that nothing of it passes by; without the engine's log and
   * its rotation. Throws `runtime_error`.
   */
  async attach(): Promise<void> {
    const live = await this.#engine.output.attach(this.#name, this.#signal)
    this.#copied = this.#copyAttached(live)
  }

  /** Goes on where the log ends, with the engine's own. */
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
      // The engine went away; what was printed meanwhile is in its log.
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

  /** Lines are counted off as long as the engine's log begins as this one; otherwise the time says what is held. */
  #isNew(output: OutputLine, held: Map<LogLine['stream'], Held>): boolean {
    const known = held.get(output.stream)
    if (!known) return true
    if (known.isWhole === null) {
      known.isWhole = known.first === toLogLine(this.#name, output).line
      if (!known.isWhole)
        this.#log.system(
          `the engine has not kept all of the output on ${output.stream}: lines may be missing here`,
        )
    }
    return known.isWhole ? known.lines-- <= 0 : output.ts > known.lastTs
  }

  #remember({ line }: LogLine): void {
    this.lastLines.push(line)
    if (this.lastLines.length > SHOWN_LINES) this.lastLines.shift()
  }

  async #readHeld(): Promise<Map<LogLine['stream'], Held>> {
    const held = new Map<LogLine['stream'], Held>()
    let hasHole = false
    for await (const block of readLog(this.#logId, () => false, this.#signal)) {
      for (const line of parseLines(block)) {
        hasHole ||= held.size > 0 && tellsLoss(line)
        if (line.instance !== this.#name) continue
        const known = held.get(line.stream) ?? { lines: 0, first: line.line, isWhole: null }
        held.set(line.stream, { ...known, lines: known.lines + 1, lastTs: line.ts })
        this.#remember(line)
      }
    }
    // Where some are missing they cannot be counted off.
    if (hasHole) for (const known of held.values()) known.isWhole = false
    return held
  }
}

import { setTimeout as delay } from 'node:timers/promises'
import { readLog, type LogWriter } from '#server/log-files.ts'
import type { Engine } from '../engine/index.ts'
import { toLogLine } from '../logs/follow.ts'

/** Lines of the program's own output that a failure shows. */
const SHOWN_LINES = 20
/** Between two tries to read from an engine that does not answer. */
const RETRY_MS = 300

/** How far a log already holds a container's output: the moment of its last line, and how many lines bear it. */
interface Held {
  ts: string
  lines: number
}

/** Copies what a container prints into a log, going on where an earlier copy of it ended. */
export class OutputCopy {
  /** The newest few lines. */
  readonly lastLines: string[] = []
  readonly #engine: Engine
  readonly #name: string
  readonly #logId: string
  readonly #log: LogWriter

  constructor(engine: Engine, name: string, logId: string, log: LogWriter) {
    this.#engine = engine
    this.#name = name
    this.#logId = logId
    this.#log = log
  }

  /** Copies until the program has ended or the signal aborts. Never throws: an engine that is away is asked again. */
  async run(isNew: boolean, signal: AbortSignal): Promise<void> {
    const held = isNew ? null : await this.#readHeld(signal).catch(() => null)
    let skip = held?.lines ?? 0
    let since = held === null ? undefined : justBefore(held.ts)
    while (!signal.aborted) {
      try {
        const output = this.#engine.containers.logs(this.#name, { since, follow: true, signal })
        for await (const printed of output) {
          if (since !== undefined && printed.ts <= since) continue
          since = printed.ts
          const line = toLogLine(this.#name, printed)
          // The engine's moments are finer than a log's, so lines of its last moment are counted off.
          if (skip > 0 && line.ts === held!.ts) skip--
          else this.#log.write(line)
          this.#remember(line.line)
        }
        if ((await this.#engine.containers.inspect(this.#name))?.running !== true) return
      } catch {
        // Asked again below.
      }
      await delay(RETRY_MS, undefined, { signal }).catch(() => {})
    }
  }

  #remember(line: string): void {
    this.lastLines.push(line)
    if (this.lastLines.length > SHOWN_LINES) this.lastLines.shift()
  }

  async #readHeld(signal: AbortSignal): Promise<Held | null> {
    let held = null as Held | null
    for await (const { ts, instance, line } of readLog(this.#logId, () => false, signal)) {
      if (instance !== this.#name) continue
      held = { ts, lines: held?.ts === ts ? held.lines + 1 : 1 }
      this.#remember(line)
    }
    return held
  }
}

/** The last nanosecond before a millisecond. */
function justBefore(ts: string): string {
  return new Date(Date.parse(ts) - 1).toISOString().replace('Z', '999999Z')
}

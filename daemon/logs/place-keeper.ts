import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { savePlace } from '#server/logs/places.ts'
import type { ServiceLog } from '#server/logs/store.ts'
import type { Engine } from '../engine/index.ts'
import { LogReader } from './log-reader.ts'
import type { Mark, Place } from './place.ts'

const log = logger('logs')

/** What is stored after a place that was kept is counted at the next start, and the engine keeps 20 MB of its log at least. */
const KEEP_BYTES = 4_000_000
/** Of a line in the engine's log beside its text. */
const LINE_BYTES = 100
const KEEP_MS = 60_000
/** The first line gives a log a time by which it is known. */
const FIRST_MS = 1_000
/** When a program is silent for so long, all that the engine's log has was passed. */
const SILENT_MS = 200

/** Keeps how far the output of one container is stored, now and then. */
export class PlaceKeeper {
  readonly #instance: string
  readonly #log: ServiceLog
  readonly #place: Place
  readonly #signal: AbortSignal
  readonly #reader: LogReader
  #bytes = 0
  #timer: NodeJS.Timeout | undefined
  #isBusy = false
  #keptTime: string | null = null

  constructor(engine: Engine, instance: string, ownLog: ServiceLog, place: Place, signal: AbortSignal) {
    this.#instance = instance
    this.#log = ownLog
    this.#place = place
    this.#signal = signal
    this.#reader = new LogReader(engine, instance, place, signal, () => {})
    signal.addEventListener('abort', () => clearTimeout(this.#timer), { once: true })
  }

  /** Takes note of lines that were given to the store, all that the place has passed. */
  stored(lines: number, bytes: number): void {
    this.#bytes += bytes + lines * LINE_BYTES
    if (this.#isBusy || this.#signal.aborted) return
    if (this.#bytes >= KEEP_BYTES && this.#keptTime !== null) void this.#keepLater()
    else
      this.#timer ??= setTimeout(
        () => void this.#keepLater(),
        this.#keptTime === null ? FIRST_MS : KEEP_MS,
      ).unref()
  }

  /** Keeps the place as it is now, once what was given to the store before is on the disk. */
  async keep(): Promise<void> {
    const { mark, container } = this.#place
    if (container === null) return
    const from = mark && { ...mark }
    const stored = this.#log.mark()
    const to = from ? await this.#reader.advanced(from) : await this.#anew()
    const line = await stored
    if (this.#place.container !== container || this.#signal.aborted) return
    if (to && line !== null) savePlace(this.#instance, { container, ...to, line })
    this.#keptTime = to?.time ?? null
    if (from && to) this.#place.advance(from, to)
    else if (from?.time === this.#place.mark?.time) this.#place.mark = to
    // Its time was rotated away, which only a flood does, or the program goes on: at the next silence it gets another.
    if (!to) this.stored(0, 1)
  }

  /** A mark of what is passed where the old one is gone: the end of the log, when nothing was printed around it. */
  async #anew(): Promise<Mark | null> {
    const isSilent = (forMs: number) => this.#place.isLive && this.#place.silentMs() >= forMs
    if (!isSilent(SILENT_MS)) return null
    const began = performance.now()
    const found = await this.#reader.latest()
    await delay(SILENT_MS)
    return isSilent(performance.now() - began) && this.#place.mark === null ? found : null
  }

  async #keepLater(): Promise<void> {
    this.#isBusy = true
    this.#bytes = 0
    clearTimeout(this.#timer)
    this.#timer = undefined
    try {
      await this.keep()
    } catch (error) {
      log.debug('the place in a log is kept later', { instance: this.#instance, error: messageOf(error) })
    } finally {
      this.#isBusy = false
      if (this.#bytes > 0) this.stored(0, 0)
    }
  }
}

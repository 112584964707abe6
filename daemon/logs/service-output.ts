import { setImmediate, setTimeout as delay } from 'node:timers/promises'
import { Bell } from '#server/work/bell.ts'
import { useContext } from '#server/context.ts'
import { messageOf } from '#server/errors.ts'
import { instanceDeploys, recordLogInstance } from '#server/logs/instances.ts'
import type { LogLine } from '#server/logs/lines.ts'
import { logger } from '#server/log.ts'
import { serviceLog } from '#server/logs/service-logs.ts'
import type { ServiceLog } from '#server/logs/store.ts'
import { schedule } from '#server/options/schedule.ts'
import type { Engine, OutputLine } from '../engine/index.ts'
import { toLogLine } from './follow.ts'
import { Intake } from './intake.ts'
import type { KnownLines } from './known.ts'
import { readOutput } from './output.ts'
import { knownOf } from './resume.ts'

const log = logger('logs')

/** Output from while the server was down is sorted before it is stored; an instance that takes longer is stored later. */
const CATCH_UP_MS = 5_000
/** Max bytes held for that, few enough for the store to accept at once, and the overhead of a stored line. */
const MAX_EARLY_BYTES = 8 * 1024 * 1024
const LINE_BYTES = 128
/** The last output of an instance may still be arriving when its container is removed. */
const LAST_OUTPUT_MS = 2_000

/** Collects the output of one service's instances, or of one datastore. */
export class ServiceOutput {
  readonly #engineOf: (nodeId: string) => Engine | null
  readonly #serviceId: string
  readonly #log: ServiceLog
  readonly #intake = new Intake()
  /** Rings when something happened to one of the instances. */
  readonly #news = new Bell()
  readonly #followed = new Map<string, AbortController>()
  /** The node of each. */
  readonly #nodes = new Map<string, string>()
  /** The readings in progress. */
  readonly #readings = new Map<string, AbortController>()
  /** Lines read before the first instances have caught up, to be sorted. */
  #early: { line: LogLine; time: string }[] | null = []
  #earlyBytes = 0
  #behind = 0

  constructor(engineOf: (nodeId: string) => Engine | null, serviceId: string) {
    this.#engineOf = engineOf
    this.#serviceId = serviceId
    this.#log = serviceLog(serviceId)
  }

  /** Follows exactly these instances, each on its node. */
  follow(instances: ReadonlyMap<string, string>): void {
    for (const [id, nodeId] of instances) {
      this.#nodes.set(id, nodeId)
      const instance = this.#followed.get(id)
      if (instance) continue
      const stop = new AbortController()
      this.#followed.set(id, stop)
      void this.#follow(id, stop.signal)
    }
    for (const [id, stop] of this.#followed) {
      if (instances.has(id)) continue
      this.#followed.delete(id)
      setTimeout(() => this.#leave(id, stop), LAST_OUTPUT_MS).unref()
    }
    if (instances.size === 0) this.#begin()
    this.#news.ring()
  }

  /** Continues with another container of the same name, after the removed one's last output. */
  replaced(id: string): void {
    const reading = this.#readings.get(id)
    setTimeout(() => reading?.abort(), LAST_OUTPUT_MS).unref()
  }

  stop(): void {
    this.#begin()
    for (const stop of this.#followed.values()) stop.abort()
  }

  #leave(id: string, stop: AbortController): void {
    stop.abort()
    if (!this.#followed.has(id)) this.#nodes.delete(id)
  }

  /** Never throws: a fault of one instance must not affect the others or the server. */
  async #follow(id: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#run(id, signal)
    } catch (error) {
      if (signal.aborted) return
      this.#warn('the output of an instance is not collected until its next change', id, error)
      this.#followed.delete(id)
    }
  }

  async #run(id: string, signal: AbortSignal): Promise<void> {
    const isFirst = this.#early !== null
    let isBehind = isFirst
    const caughtUp = () => {
      if (isBehind && --this.#behind === 0) this.#begin()
      isBehind = false
    }
    if (isFirst) {
      this.#behind++
      setTimeout(caughtUp, CATCH_UP_MS).unref()
    }
    try {
      const known = await this.#placeOf(id, signal)
      while (!signal.aborted) {
        const wasReplaced = await this.#read(id, known, caughtUp, signal).catch((error: unknown) => {
          this.#warn('the output of an instance cannot be collected; trying again', id, error)
          return false
        })
        // Its container does not exist yet, or was removed and may be created again.
        caughtUp()
        if (!wasReplaced)
          await this.#news.wait(AbortSignal.any([signal, AbortSignal.timeout(schedule.outputRetryMs)]))
      }
    } finally {
      caughtUp()
      this.#readings.delete(id)
    }
  }

  /** Reads as long as there is something to read. Returns whether another container has replaced the one read. */
  async #read(id: string, known: KnownLines, onLive: () => void, signal: AbortSignal): Promise<boolean> {
    const engine = this.#engineOf(this.#nodes.get(id)!)
    if (!engine) return false
    const reading = new AbortController()
    this.#readings.set(id, reading)
    let isLive = false
    const caughtUp = () => {
      isLive = true
      onLive()
    }
    const options = {
      signal: AbortSignal.any([signal, reading.signal]),
      known,
      onLive: caughtUp,
      isSignaled: true,
    }
    for await (const output of readOutput(engine, id, options)) {
      const bytes = output.reduce((sum, { line }) => sum + line.length + 1, 0)
      // Output from the engine's log waits for the disk; waiting with live output would block the program.
      if (!isLive) await this.#log.room()
      if (!isLive || this.#intake.take(bytes)) this.#take(id, output, bytes)
      else this.#log.lose(output.length, id)
      // Followers write between two reads, so that those that keep up miss nothing of a burst.
      await setImmediate()
    }
    return reading.signal.aborted
  }

  #warn(what: string, instance: string, error: unknown): void {
    log.warn(what, { service: this.#serviceId, instance, error: messageOf(error) })
  }

  /** Returns what is already stored of an instance. Waits while the store cannot be read. */
  async #placeOf(id: string, signal: AbortSignal): Promise<KnownLines> {
    // The containers of a datastore all have the same name.
    const isNew = id !== this.#serviceId && !instanceDeploys(this.#serviceId).has(id)
    for (;;) {
      try {
        const known = await knownOf(this.#log, id, isNew)
        recordLogInstance(id)
        return known
      } catch (error) {
        signal.throwIfAborted()
        log.warn('a service log cannot be read', { service: this.#serviceId, error: messageOf(error) })
        await delay(schedule.outputRetryMs, undefined, { signal })
      }
    }
  }

  #take(id: string, output: readonly OutputLine[], bytes: number): void {
    const oldest = new Date(Date.now() - useContext().options.logRetentionMs).toISOString()
    const lines = output.map((line) => toLogLine(id, line)).filter(({ ts }) => ts >= oldest)
    if (!this.#early) return this.#log.append(lines)
    for (const line of lines) this.#early.push({ line, time: line.ts })
    this.#earlyBytes += bytes + lines.length * LINE_BYTES
    if (this.#earlyBytes > MAX_EARLY_BYTES) this.#begin()
  }

  /** Stores the held lines in the order of their times; lines of one instance keep their own order. */
  #begin(): void {
    const early = this.#early
    this.#early = null
    if (early) this.#log.append(inOrder(early).map(({ line }) => line))
  }
}

/** Sorts lines of several containers by time; those of one container keep their own order. */
function inOrder<T extends { line: LogLine; time: string }>(lines: readonly T[]): T[] {
  const latest = new Map<string | undefined, string>()
  const timed = lines.map((entry) => {
    const before = latest.get(entry.line.instance) ?? ''
    const time = entry.time > before ? entry.time : before
    latest.set(entry.line.instance, time)
    return { entry, time }
  })
  return timed
    .toSorted((left, right) => (left.time < right.time ? -1 : left.time > right.time ? 1 : 0))
    .map(({ entry }) => entry)
}

import { setImmediate, setTimeout as delay } from 'node:timers/promises'
import { onChange } from '#server/changes.ts'
import { instancesOf } from '#server/instances/store.ts'
import type { LogLine } from '#server/log-lines.ts'
import { getService } from '#server/services/store.ts'
import type { Engine } from '../engine/index.ts'
import { toLogLine } from './follow.ts'
import { followNotes, notesOf } from './notes.ts'
import { readOutput } from './output.ts'
import { LineRing } from './ring.ts'

/** The most recent lines of each container that a follower can begin with. */
export const MAX_TAIL = 10_000
/** A look for new containers even when nothing was told. */
const LOOK_MS = 2_000
/** A container that cannot be read by then joins later. */
const JOIN_LIMIT_MS = 5_000

/** A line with the engine's own time, by which it takes its place among those of other containers. */
export interface TimedLine {
  line: LogLine
  time: string
}

/** What a service's containers print, and what the server says of them, read once for all who follow it. */
export class ServiceFeed {
  readonly lines = new LineRing()
  /** Settled once all that was printed before is in `lines`: what comes from then on is new. Rejects with `runtime_error`. */
  readonly joined: Promise<void>
  readonly #engine: Engine
  readonly #serviceId: string
  readonly #ended = new AbortController()
  readonly #followed = new Set<string>()
  /** What is read before all containers have joined, to be put in order then. */
  #early: TimedLine[] | null = []

  constructor(engine: Engine, serviceId: string) {
    this.#engine = engine
    this.#serviceId = serviceId
    const stopListening = onChange(({ service_id }) => {
      if (service_id === serviceId) void this.#followNew()
    })
    const period = setInterval(() => void this.#followNew(), LOOK_MS)
    this.signal.addEventListener('abort', () => {
      stopListening()
      clearInterval(period)
    })
    this.joined = this.#join()
  }

  /** Aborts when the service is gone, or when nobody follows it any more. */
  get signal(): AbortSignal {
    return this.#ended.signal
  }

  end(): void {
    this.#ended.abort()
  }

  async #join(): Promise<void> {
    await this.#engine.info()
    const late = delay(JOIN_LIMIT_MS, undefined, { ref: false, signal: this.signal }).catch(() => {})
    await Promise.race([this.#followNew(), late])
    this.#begin()
  }

  #begin(): void {
    const early = [
      ...(this.#early ?? []),
      ...notesOf(this.#serviceId).map((line) => ({ line, time: line.ts })),
    ]
    this.#early = null
    this.lines.push(inOrder(early).map(({ line }) => line))
    const stopNotes = followNotes(this.#serviceId, (line) => this.lines.push([line]))
    this.signal.addEventListener('abort', stopNotes)
    if (this.signal.aborted) stopNotes()
  }

  /** Takes up the containers that are not followed yet; resolves when they have joined. */
  async #followNew(): Promise<void> {
    if (!getService(this.#serviceId)) return this.end()
    const ids = instancesOf(this.#serviceId).map(({ id }) => id)
    await Promise.all(
      ids
        .filter((id) => !this.#followed.has(id))
        .map((id) => new Promise<void>((resolve) => void this.#follow(id, resolve))),
    )
  }

  async #follow(id: string, onLive: () => void): Promise<void> {
    this.#followed.add(id)
    // One that came later is followed from its first line on.
    const tail = this.#early ? { tail: MAX_TAIL } : {}
    let time = ''
    for await (const output of readOutput(this.#engine, id, { ...tail, signal: this.signal, onLive })) {
      const lines = output.map((line) => toLogLine(id, line))
      if (!this.#early) {
        this.lines.push(lines)
        // The followers write between two readings, so that those who keep up miss nothing of a burst.
        await setImmediate()
      } else
        for (const [index, line] of lines.entries()) {
          // The engine's clock for its log and ours for what came live differ a little.
          const { ts } = output[index]!
          if (ts > time) time = ts
          this.#early.push({ line, time })
        }
    }
    this.#followed.delete(id)
    onLive()
  }
}

/** Lines of several containers in the order of their times; those of one stay in their own. */
export function inOrder(lines: readonly TimedLine[]): TimedLine[] {
  return lines.toSorted((left, right) => (left.time < right.time ? -1 : left.time > right.time ? 1 : 0))
}

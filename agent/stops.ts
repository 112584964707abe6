import { setTimeout as delay } from 'node:timers/promises'
import type { HostEngine, Inspected } from './engine.ts'

/** Longer than any container may take to end once it was told to. */
const STOP_MS = 600_000
/** An engine keeps so many of its last events, of all kinds: health checks and commands in containers push out the rest. */
const KEPT_EVENTS = 256
/** An engine tells that a container was told to end a little after it has sent the signal. */
const SETTLE_MS = 1_000
const AGAIN_MS = 1_000

/**
 * Which containers were told to end, by the server or by somebody. The engine does not tell it of a container, only by an event
 * that it soon forgets: the events are followed from the agent's start, and where some may have been missed, nothing is taken for
 * a crash that may have been a stop.
 */
export class Stops {
  readonly #engine: HostEngine
  readonly #label: string
  /**
   * When each was told so, by the id of the container: until it is started again or gone, so that there are never more than
   * containers.
   */
  readonly #told = new Map<string, number>()
  /** All events since then are known. What ended before it, or was being ended, may have been told to. */
  #knownSince = Date.now() - STOP_MS
  /** The time of the last event. */
  #lastAt = this.#knownSince
  /** Since when there is nothing to catch up with; null while the events are not followed. */
  #followedSince: number | null = null

  constructor(engine: HostEngine, label: string) {
    this.#engine = engine
    this.#label = label
  }

  /** Follows the events until the signal aborts. */
  async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const closing = new AbortController()
      const either = AbortSignal.any([signal, closing.signal])
      try {
        const events = await this.#engine.follow(
          this.#label,
          ['start', 'kill', 'stop', 'destroy'],
          this.#lastAt,
          either,
        )
        await Promise.all([this.#catchUp(either), this.#read(events)])
      } catch {
        // The looks at the containers say that the engine does not answer.
      }
      closing.abort()
      this.#followedSince = null
      await delay(AGAIN_MS, undefined, { signal }).catch(() => {})
    }
  }

  /** Whether a container that runs is about to end because it was told to. */
  isEnding(id: string): boolean {
    const at = this.#told.get(id)
    if (at === undefined) return false
    if (Date.now() - at < STOP_MS) return true
    // It was told something else.
    this.#told.delete(id)
    return false
  }

  /**
   * Whether a container that has ended did so by itself. False when nobody knows: what the server was stopping may hold data that
   * is being copied or filled.
   */
  hasEndedByItself(id: string, { startedAt, endedAt }: Pick<Inspected, 'startedAt' | 'endedAt'>): boolean {
    if (this.#followedSince === null || this.#told.has(id)) return false
    if (Date.now() - Math.max(this.#followedSince, endedAt) < SETTLE_MS) return false
    // It was told to end after its start, and not long before its end, or not at all.
    return Math.max(startedAt, endedAt - STOP_MS) >= this.#knownSince
  }

  /** Forgets that a container was told to end before a time. */
  forget(id: string, before: number): void {
    if ((this.#told.get(id) ?? before) < before) this.#told.delete(id)
  }

  /** Finds out whether the engine still had all events since the last one, once they are followed. */
  async #catchUp(signal: AbortSignal): Promise<void> {
    const kept = await this.#engine.countEvents(this.#lastAt, signal)
    if (kept >= KEPT_EVENTS) {
      // What was told to end before is unknown from now on, and so not started either: nothing need be kept of containers whose
      // removal was missed.
      this.#knownSince = Date.now()
      this.#told.clear()
    }
    this.#followedSince = Date.now()
  }

  async #read(events: AsyncIterable<{ id: string; action: string; at: number }>): Promise<void> {
    for await (const { id, action, at } of events) {
      this.#lastAt = Math.max(this.#lastAt, at)
      if (action === 'kill' || action === 'stop') this.#told.set(id, at)
      else this.#told.delete(id)
    }
  }
}

import { setTimeout as delay } from 'node:timers/promises'
import { announceService, onChange } from '#server/changes.ts'
import { useDatabase } from '#server/context.ts'
import { instancesOf } from '#server/instances/store.ts'
import { emitEvent, lastReported, setReported } from '#server/notifications/events.ts'
import { schedule } from '#server/options/schedule.ts'
import { allServices, getService } from '#server/services/store.ts'
import { viewService } from '#server/services/view.ts'
import { hasLeftSince } from '../engine-absence.ts'
import type { World } from '../world.ts'

/** Reports when a service has been down for a while, and when it runs again. The last report survives a restart. */
export class ServiceWatch {
  readonly #world: World
  readonly #stopListening: () => void
  readonly #waits = new Map<string, AbortController>()

  constructor(world: World) {
    this.#world = world
    this.#stopListening = onChange(({ kind, id, action }) => {
      if (kind === 'service' && action !== 'deleted') this.#look(id)
    })
    for (const { id } of allServices()) this.#look(id)
  }

  stop(): void {
    this.#stopListening()
    for (const wait of this.#waits.values()) wait.abort()
  }

  #look(id: string): void {
    const service = getService(id)
    const state = service && viewService(service).state
    if (state === 'down') return this.#startWaiting(id)
    this.#waits.get(id)?.abort()
    this.#waits.delete(id)
    if (state === 'running' && lastReported(keyOf(id)) !== null) this.#report(id, 'service.recovered', null)
    // Whoever suspended it or scaled it to 0 knows that already.
    if (state === 'suspended' || state === 'idle') setReported(keyOf(id), null)
  }

  #startWaiting(id: string): void {
    if (this.#waits.has(id) || lastReported(keyOf(id)) !== null) return
    const wait = new AbortController()
    this.#waits.set(id, wait)
    this.#staysDown(wait.signal).then(
      () => {
        this.#waits.delete(id)
        const service = getService(id)
        if (service && viewService(service).state === 'down') this.#report(id, 'service.down', reasonOf(id))
      },
      (error: unknown) => {
        if (!wait.signal.aborted) throw error
      },
    )
  }

  /** Resolves when it has been down for long enough with the engine there: what ended with the engine starts with it again. */
  async #staysDown(signal: AbortSignal): Promise<void> {
    let departures: number
    do {
      departures = this.#world.engineDepartures
      await delay(schedule.downAfterMs, undefined, { signal })
    } while (await hasLeftSince(this.#world, departures, signal))
  }

  #report(id: string, type: 'service.down' | 'service.recovered', detail: string | null): void {
    useDatabase().transaction(() => {
      setReported(keyOf(id), type === 'service.down' ? 'down' : null)
      emitEvent(type, id, detail)
    })
    // What it reports is later than the change of state that it has waited on.
    announceService(id)
  }
}

function keyOf(id: string): string {
  return `down ${id}`
}

/** Returns why an instance is not ready. */
function reasonOf(id: string): string | null {
  return instancesOf(id).find(({ reason }) => reason !== null)?.reason ?? null
}

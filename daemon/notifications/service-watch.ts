import { onChange } from '#server/changes.ts'
import { useDatabase } from '#server/context.ts'
import { instancesOf } from '#server/instances/store.ts'
import { emitEvent, lastReported, setReported } from '#server/notifications/events.ts'
import { schedule } from '#server/options/schedule.ts'
import { allServices, getService } from '#server/services/store.ts'
import { viewService } from '#server/services/view.ts'

/** Reports when a service has been down for a while, and when it runs again. The last report survives a restart. */
export class ServiceWatch {
  readonly #stopListening: () => void
  readonly #timers = new Map<string, NodeJS.Timeout>()

  constructor() {
    this.#stopListening = onChange(({ kind, id, action }) => {
      if (kind === 'service' && action !== 'deleted') this.#look(id)
    })
    for (const { id } of allServices()) this.#look(id)
  }

  stop(): void {
    this.#stopListening()
    for (const timer of this.#timers.values()) clearTimeout(timer)
  }

  #look(id: string): void {
    const service = getService(id)
    const state = service && viewService(service).state
    if (state === 'down') return this.#startTimer(id)
    clearTimeout(this.#timers.get(id))
    this.#timers.delete(id)
    if (state === 'running' && lastReported(keyOf(id)) !== null) this.#report(id, 'service.recovered', null)
    // Whoever suspended it or scaled it to 0 knows that already.
    if (state === 'suspended' || state === 'idle') setReported(keyOf(id), null)
  }

  #startTimer(id: string): void {
    if (this.#timers.has(id) || lastReported(keyOf(id)) !== null) return
    const timer = setTimeout(() => {
      this.#timers.delete(id)
      const service = getService(id)
      if (service && viewService(service).state === 'down') this.#report(id, 'service.down', reasonOf(id))
    }, schedule.downAfterMs)
    this.#timers.set(id, timer)
  }

  #report(id: string, type: 'service.down' | 'service.recovered', detail: string | null): void {
    useDatabase().transaction(() => {
      setReported(keyOf(id), type === 'service.down' ? 'down' : null)
      emitEvent(type, id, detail)
    })
  }
}

function keyOf(id: string): string {
  return `down ${id}`
}

/** Returns why an instance is not ready. */
function reasonOf(id: string): string | null {
  return instancesOf(id).find(({ reason }) => reason !== null)?.reason ?? null
}

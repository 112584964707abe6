import { onChange } from '#server/changes.ts'
import { useContext } from '#server/context.ts'
import { allDatastores, getDatastore } from '#server/datastores/store.ts'
import { isId } from '#server/ids.ts'
import { allInstances, instancesOf } from '#server/instances/store.ts'
import { tidyLogInstances } from '#server/logs/instances.ts'
import { closeServiceLogs, tidyServiceLogs } from '#server/logs/service-logs.ts'
import { getService } from '#server/services/store.ts'
import type { Engine } from '../engine/index.ts'
import { clockGuard } from '../work/clock-guard.ts'
import type { Task } from '../work/driver.ts'
import { ServiceOutput } from './service-output.ts'

/** A day's file is packed this long after midnight at the latest. */
const TIDY_MS = 600_000

/** Takes in what the instances of every service print, and every datastore, and keeps it. */
export class LogCollector {
  readonly #engine: Engine
  readonly #outputs = new Map<string, ServiceOutput>()
  readonly #stopListening: () => void
  #isStopped = false

  constructor(engine: Engine) {
    this.#engine = engine
    this.#stopListening = onChange(({ kind, id, service_id }) => {
      if (service_id !== null) this.look(service_id)
      else if (kind === 'datastore') this.look(id)
    })
    this.lookAtAll()
  }

  /** The task that keeps what is stored within its bounds. */
  task(): Task {
    const clock = clockGuard()
    return {
      name: 'service logs',
      everyMs: TIDY_MS,
      async run() {
        // Nothing goes for good by a clock that was just set.
        if (clock.heldMs() > 0) return
        tidyLogInstances(useContext().options.logRetentionMs)
        await tidyServiceLogs((id) => (getService(id) ?? getDatastore(id)) !== undefined)
      },
    }
  }

  /** Takes up the containers of a service or a datastore that are new, and lets go of those that are gone. */
  look(id: string): void {
    const ids = isId('datastore', id) ? containersOfDatastore(id) : instancesOf(id).map((row) => row.id)
    const known = this.#outputs.get(id)
    if (this.#isStopped || (!known && ids.length === 0)) return
    const output = known ?? new ServiceOutput(this.#engine, id)
    output.follow(ids)
    if (ids.length > 0) this.#outputs.set(id, output)
    else this.#outputs.delete(id)
  }

  /** Takes note that the container of a datastore was removed, in whose place another may come by the same name. */
  replaced(datastoreId: string): void {
    this.#outputs.get(datastoreId)?.replaced(datastoreId)
  }

  /** Looks at every service and datastore, after the engine came back. */
  lookAtAll(): void {
    const ofServices = allInstances().map(({ service_id }) => service_id)
    const ids = [...ofServices, ...allDatastores().map(({ id }) => id), ...this.#outputs.keys()]
    for (const id of new Set(ids)) this.look(id)
  }

  /** Ends the reading and writes what waits. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#stopListening()
    for (const output of this.#outputs.values()) output.stop()
    await closeServiceLogs()
  }
}

/** The one container of a datastore, which has its name, until it goes. */
function containersOfDatastore(id: string): string[] {
  const row = getDatastore(id)
  return row && row.status !== 'deleting' ? [id] : []
}

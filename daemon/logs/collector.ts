import { onChange } from '#server/changes.ts'
import { useContext } from '#server/context.ts'
import { allDatastores, getDatastore, type DatastoreRow } from '#server/datastores/store.ts'
import { isId } from '#server/ids.ts'
import { allInstances, instancesOf } from '#server/instances/store.ts'
import { tidyLogInstances } from '#server/logs/instances.ts'
import { closeServiceLogs, tidyServiceLogs } from '#server/logs/service-logs.ts'
import { getService } from '#server/services/store.ts'
import type { Engine } from '../engine/index.ts'
import { clockGuard } from '../work/clock-guard.ts'
import type { Task } from '../work/driver.ts'
import { ServiceOutput } from './service-output.ts'

/** A day's log file is compressed at most this long after midnight. */
const TIDY_MS = 600_000

/** Collects and stores the output of every instance and datastore. */
export class LogCollector {
  readonly #engineOf: (nodeId: string) => Engine | null
  readonly #outputs = new Map<string, ServiceOutput>()
  readonly #stopListening: () => void
  #isStopped = false

  /** `engineOf` gives the engine of a node; null while there is no way to it. */
  constructor(engineOf: (nodeId: string) => Engine | null) {
    this.#engineOf = engineOf
    this.#stopListening = onChange(({ kind, id, service_id }) => {
      if (service_id !== null) this.look(service_id)
      else if (kind === 'datastore') this.look(id)
    })
    this.lookAtAll()
  }

  /** The task that keeps stored logs within their limits. */
  task(): Task {
    const clock = clockGuard()
    return {
      name: 'service logs',
      everyMs: TIDY_MS,
      async run() {
        // Delete nothing by a clock that has just changed.
        if (clock.heldMs() > 0) return
        tidyLogInstances(useContext().options.logRetentionMs)
        await tidyServiceLogs((id) => (getService(id) ?? getDatastore(id)) !== undefined)
      },
    }
  }

  /** Starts following new containers of a service or datastore, and stops following removed ones. */
  look(id: string): void {
    const rows = isId('datastore', id) ? rowsOfDatastore(id) : instancesOf(id)
    const known = this.#outputs.get(id)
    if (this.#isStopped || (!known && rows.length === 0)) return
    const output = known ?? new ServiceOutput(this.#engineOf, id)
    output.follow(new Map(rows.map((row) => [row.id, row.node_id])))
    if (rows.length > 0) this.#outputs.set(id, output)
    else this.#outputs.delete(id)
  }

  /** Notes that the container of a datastore was removed; another one with the same name may follow. */
  replaced(datastoreId: string): void {
    this.#outputs.get(datastoreId)?.replaced(datastoreId)
  }

  /** Checks every service and datastore, after the engine came back. */
  lookAtAll(): void {
    const ofServices = allInstances().map(({ service_id }) => service_id)
    const ids = [...ofServices, ...allDatastores().map(({ id }) => id), ...this.#outputs.keys()]
    for (const id of new Set(ids)) this.look(id)
  }

  /** Stops reading and writes what is buffered. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#stopListening()
    for (const output of this.#outputs.values()) output.stop()
    await closeServiceLogs()
  }
}

/** Returns the container of a datastore, which has its id as name; none while it is being deleted. */
function rowsOfDatastore(id: string): DatastoreRow[] {
  const row = getDatastore(id)
  return row && row.status !== 'deleting' ? [row] : []
}

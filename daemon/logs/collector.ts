import { onChange } from '#server/changes.ts'
import { allInstances, instancesOf } from '#server/instances/store.ts'
import { useContext } from '#server/context.ts'
import { tidyLogInstances } from '#server/logs/instances.ts'
import { closeServiceLogs, tidyServiceLogs } from '#server/logs/service-logs.ts'
import { getService } from '#server/services/store.ts'
import type { Task } from '../driver.ts'
import type { Engine } from '../engine/index.ts'
import { ServiceOutput } from './service-output.ts'

/** A day's file is packed this long after midnight at the latest. */
const TIDY_MS = 600_000

/** Takes in what the instances of every service print, and keeps it. */
export class LogCollector {
  readonly #engine: Engine
  readonly #outputs = new Map<string, ServiceOutput>()
  readonly #stopListening: () => void
  #isStopped = false

  constructor(engine: Engine) {
    this.#engine = engine
    this.#stopListening = onChange(({ service_id }) => {
      if (service_id !== null) this.look(service_id)
    })
    this.lookAtAll()
  }

  /** The task that keeps what is stored within its bounds. */
  task(): Task {
    return {
      name: 'service logs',
      everyMs: TIDY_MS,
      async run() {
        tidyLogInstances(useContext().options.logRetentionMs)
        await tidyServiceLogs((id) => getService(id) !== undefined)
      },
    }
  }

  /** Takes up the instances of a service that are new, and lets go of those that are gone. */
  look(serviceId: string): void {
    const ids = instancesOf(serviceId).map(({ id }) => id)
    const known = this.#outputs.get(serviceId)
    if (this.#isStopped || (!known && ids.length === 0)) return
    const output = known ?? new ServiceOutput(this.#engine, serviceId)
    output.follow(ids)
    if (ids.length > 0) this.#outputs.set(serviceId, output)
    else this.#outputs.delete(serviceId)
  }

  /** The same for every service, after the engine came back. */
  lookAtAll(): void {
    const ids = [...allInstances().map(({ service_id }) => service_id), ...this.#outputs.keys()]
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

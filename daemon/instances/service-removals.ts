import { announceService } from '#server/changes.ts'
import { messageOf } from '#server/errors.ts'
import { instancesOf } from '#server/instances/store.ts'
import { removeServiceLog } from '#server/logs/service-logs.ts'
import { noteStuck } from '#server/nodes/stuck.ts'
import { deleteServiceRow, getService, type ServiceRow } from '#server/services/store.ts'
import { Background } from '../work/background.ts'
import { CrashHistory } from '../work/crashes.ts'
import { forEachLimited } from '../work/each.ts'
import { passEnded } from '../work/settled.ts'
import type { World } from '../world.ts'
import { observe } from './observing.ts'
import type { Upkeep } from './upkeep.ts'

/** Containers of a service removed in parallel. */
const PARALLEL = 8

/** What a service has beyond its instances. */
export interface Belongings {
  /** Waits until no work on a service that is being deleted is running. */
  workDone(serviceId: string): Promise<unknown>
  /** Removes its disk, with all that belongs to it. */
  removeDisks(service: ServiceRow): Promise<void>
}

/** Removes deleted services with all that belongs to them. */
export class ServiceRemovals {
  readonly #world: World
  readonly #upkeep: Upkeep
  readonly #belongings: Belongings
  readonly #onLeft: (serviceId: string) => void
  readonly #removals = new Background()
  readonly #failures = new CrashHistory()

  /** `onLeft` is called when a removal has failed and is to be tried again. */
  constructor(world: World, upkeep: Upkeep, belongings: Belongings, onLeft: (serviceId: string) => void) {
    this.#world = world
    this.#upkeep = upkeep
    this.#belongings = belongings
    this.#onLeft = onLeft
  }

  /** Whether a service is being removed. */
  has(serviceId: string): boolean {
    return this.#removals.has(serviceId)
  }

  stop(): void {
    this.#removals.stop()
  }

  /** Begins to remove a service. */
  start(service: ServiceRow): void {
    this.#removals.start({
      key: service.id,
      pauseMs: this.#failures.backOffMs(service.id),
      run: () => this.#removeService(service),
      onFailure: (error) => {
        this.#failures.record(service.id)
        observe(getService(service.id) ?? service, messageOf(error))
      },
      onEnd: () => {
        if (getService(service.id)) this.#onLeft(service.id)
      },
    })
  }

  async #removeService(service: ServiceRow): Promise<void> {
    await this.#world.dataPlane.sync()
    // Its deploys and jobs were canceled, but until they have ended they could create again what is removed here.
    await this.#belongings.workDone(service.id)
    await forEachLimited(instancesOf(service.id), PARALLEL, (instance) => this.#upkeep.remove(instance))
    for (const { engine } of this.#world.engines()) {
      const strays = await engine.containers.list({ 'deployer.service': service.id })
      await forEachLimited(strays, PARALLEL, ({ name }) => engine.containers.remove(name))
    }
    await this.#belongings.removeDisks(service)
    deleteServiceRow(service.id)
    await removeServiceLog(service.id)
    this.#failures.forget(service.id)
    noteStuck(service.id, null)
    announceService(service.id, 'deleted')
    passEnded(service.id)
  }
}

import { useDatabase } from '#server/context.ts'
import { announceService } from '#server/changes.ts'
import { instanceMachine } from '#server/instances/states.ts'
import type { InstanceRow } from '#server/instances/store.ts'
import { logger } from '#server/log.ts'
import { tryMove } from '#server/state-machine.ts'
import { recordServiceEvent } from '#server/service-events/store.ts'
import { schedule } from '#server/options/schedule.ts'
import { hostsOf } from '#server/services/hosts.ts'
import type { ServiceRow } from '#server/services/store.ts'
import type { Task } from '../work/driver.ts'
import { forEachLimited } from '../work/each.ts'
import type { World } from '../world.ts'
import { probe } from './probe.ts'
import type { InstanceKeeper } from './keeper.ts'

const log = logger('health')

const PARALLEL = 32

type Probed = InstanceRow &
  Pick<ServiceRow, 'name' | 'type' | 'custom_domains'> & {
    /** The path that the live deploy is probed with; a changed setting applies from the next deploy on. */
    health_check_path: string | null
    environment: string
  }

/** Probes every running instance, and acts on those that fail. An instance without a port is healthy while it runs. */
export class Health {
  readonly #world: World
  readonly #keeper: InstanceKeeper
  /** Since when an instance has been failing, on the monotonic clock. */
  readonly #failingSince = new Map<string, number>()

  constructor(world: World, keeper: InstanceKeeper) {
    this.#world = world
    this.#keeper = keeper
  }

  task(): Task {
    return { name: 'health', everyMs: schedule.probeEveryMs, run: () => this.#run() }
  }

  async #run(): Promise<void> {
    const instances = useDatabase().all<Probed>(
      `SELECT instances.*, deploys.health_check_path, services.name, services.type, services.custom_domains, environments.name AS environment
       FROM instances
       JOIN deploys ON deploys.id = instances.deploy_id
       JOIN services ON services.id = instances.service_id
       JOIN environments ON environments.id = services.environment_id
       WHERE instances.status IN ('ready', 'failing')`,
    )
    for (const id of this.#failingSince.keys()) {
      if (!instances.some((instance) => instance.id === id)) this.#failingSince.delete(id)
    }
    await forEachLimited(instances, PARALLEL, (instance) => this.#look(instance))
  }

  async #look(instance: Probed): Promise<void> {
    // The kernel still accepts connections for a paused program.
    const reason = this.#keeper.isPaused(instance.id)
      ? 'its container is paused'
      : await this.#probe(instance)
    if (reason === null) return this.#recovered(instance)
    const since = this.#failingSince.get(instance.id) ?? performance.now()
    this.#failingSince.set(instance.id, since)
    const failingMs = performance.now() - since
    if (
      failingMs >= schedule.failingLeavesAfterMs &&
      tryMove(instanceMachine, instance.id, 'failing', { reason })
    ) {
      log.warn('an instance fails its probe', { instance: instance.id, reason })
      await this.#changed(instance)
    }
    if (failingMs >= schedule.failingRestartsAfterMs) {
      log.warn('restarting an instance because its probe fails', { instance: instance.id, reason })
      this.#failingSince.delete(instance.id)
      recordServiceEvent(instance.service_id, 'service.unresponsive', {
        deployId: instance.deploy_id,
        instance: instance.id,
        details: { reason },
      })
      this.#keeper.restart(instance)
    }
  }

  async #probe(instance: Probed): Promise<string | null> {
    const { upstream_host, upstream_port } = instance
    if (upstream_host === null || upstream_port === null) return null
    return probe({
      host: upstream_host,
      port: upstream_port,
      path: instance.health_check_path,
      hostHeader: hostsOf(instance, { name: instance.environment })[0] ?? instance.name,
      published: this.#world.reachByAddress === false,
    })
  }

  async #recovered(instance: Probed): Promise<void> {
    this.#failingSince.delete(instance.id)
    if (instance.status !== 'failing' || this.#keeper.isLooping(instance.id)) return
    if (tryMove(instanceMachine, instance.id, 'ready', { reason: null })) await this.#changed(instance)
  }

  async #changed(instance: Probed): Promise<void> {
    announceService(instance.service_id)
    await this.#world.dataPlane.sync()
  }
}

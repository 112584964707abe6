import { onChange, announceService } from '#server/changes.ts'
import { getDeploy, openSnapshot, servicesStoppedFirst, type DeployRow } from '#server/deploys/store.ts'
import { findEnvironment } from '#server/environments/store.ts'
import { messageOf } from '#server/errors.ts'
import { instanceMachine } from '#server/instances/states.ts'
import { getInstance, instancesOf, type InstanceRow } from '#server/instances/store.ts'
import { logger } from '#server/log.ts'
import { removeServiceLog } from '#server/logs/service-logs.ts'
import { schedule } from '#server/options/schedule.ts'
import {
  allServices,
  deleteServiceRow,
  getService,
  observeService,
  type ServiceRow,
} from '#server/services/store.ts'
import { wantedInstances } from '#server/services/types.ts'
import { tryMove } from '#server/state-machine.ts'
import { ensureNetwork } from '../environments/networks.ts'
import { Background } from '../work/background.ts'
import { CrashHistory } from '../work/crashes.ts'
import type { Task } from '../work/driver.ts'
import { forEachLimited } from '../work/each.ts'
import { passEnded } from '../work/settled.ts'
import type { World } from '../world.ts'
import { addInstance } from './containers.ts'
import { diskName } from './disk.ts'
import { servicesToReconcile, type Containers } from './out-of-step.ts'
import { Upkeep } from './upkeep.ts'

const log = logger('instances')

/** Services reconciled in parallel. */
const PARALLEL = 8

/** Waits until no deploy or job of a service is running. */
export type WorkDone = (serviceId: string) => Promise<unknown>

/**
 * Keeps the containers of every service in their desired state: starts missing ones from the live deploy's snapshot,
 * restarts those that ended, drains and removes surplus ones, and removes deleted services. Instances of a deploy that is
 * rolling out belong to the rollout until it is live.
 */
export class InstanceKeeper {
  readonly #world: World
  readonly #workDone: WorkDone
  readonly #upkeep: Upkeep
  readonly #removals = new Background()
  readonly #failures = new CrashHistory()
  readonly #stopListening: () => void
  readonly #dirty = new Set<string>()
  #lastSweep = -Infinity
  /** Whether programs may have ended with the engine, or unseen, since the last sweep. */
  #mayHaveEnded = true
  #wake: () => void = () => {}

  constructor(world: World, workDone: WorkDone) {
    this.#world = world
    this.#workDone = workDone
    this.#upkeep = new Upkeep(world, (serviceId) => this.look(serviceId))
    this.#stopListening = onChange(({ kind, service_id, action }) => {
      if (service_id !== null && (kind === 'service' || (kind === 'deploy' && action === 'updated')))
        this.look(service_id)
    })
  }

  task(wake: () => void): Task {
    this.#wake = wake
    return { name: 'instances', everyMs: schedule.sweepEveryMs, run: () => this.#run() }
  }

  /** Requests a pass over a service soon. */
  look(serviceId: string): void {
    this.#dirty.add(serviceId)
    this.#wake()
  }

  /** Whether an instance's program ended so often recently that it counts as down. */
  isLooping(instanceId: string): boolean {
    return this.#upkeep.isLooping(instanceId)
  }

  /** Whether an instance's container was paused externally. */
  isPaused(instanceId: string): boolean {
    return this.#upkeep.isPaused(instanceId)
  }

  /** Requests a pass over everything when the engine answers for the first time or again. */
  engineAnswers(): void {
    this.#mayHaveEnded = true
    this.lookAtAll()
  }

  /** Requests a pass over everything when the engine went away. */
  lookAtAll(): void {
    this.#lastSweep = -Infinity
    this.#wake()
  }

  /** Stops an instance's program; the next pass restarts it. */
  restart(instance: Pick<InstanceRow, 'id' | 'service_id'>): void {
    this.#upkeep.restart(instance)
  }

  /** Stops the work; the next start finds and finishes what is half done. */
  stop(): void {
    this.#stopListening()
    this.#upkeep.stop()
    this.#removals.stop()
  }

  async #run(): Promise<void> {
    const isSweep = performance.now() - this.#lastSweep >= schedule.sweepEveryMs
    if (isSweep) this.#lastSweep = performance.now()
    if (this.#world.reachByAddress === null) return this.#observeAll(this.#world.engineFault)
    if (isSweep) await this.#sweep()
    const ids = [...this.#dirty].filter((id) => !this.#removals.has(id))
    for (const id of ids) this.#dirty.delete(id)
    await forEachLimited(ids, PARALLEL, (id) => this.#reconcile(id))
  }

  /** Lists all containers in one request, marks services that are not in their desired state, and removes strays. */
  async #sweep(): Promise<void> {
    let containers: Containers
    try {
      const found = await this.#world.engine.containers.list({ 'deployer.kind': 'instance' })
      containers = new Map(found.map((state) => [state.name, state]))
    } catch (error) {
      return this.#observeAll(messageOf(error))
    }
    if (this.#mayHaveEnded && this.#upkeep.startEnded(containers)) await this.#world.dataPlane.sync()
    this.#mayHaveEnded = false
    for (const id of servicesToReconcile(containers, (id) => this.isPaused(id))) {
      log.debug('a service is not in its desired state', { service: id })
      this.#dirty.add(id)
    }
    // Strays come from a removal that was cut off: a record is always created before its container.
    const strays = [...containers.keys()].filter((name) => !getInstance(name))
    await forEachLimited(strays, PARALLEL, (name) => this.#world.engine.containers.remove(name))
  }

  /** Reports to requests that wait for a change that the engine does not answer; does nothing until it has been asked. */
  #observeAll(reason: string | null): void {
    if (reason === null) return
    for (const service of allServices()) observe(service, hasNothingToApply(service) ? null : reason)
  }

  async #reconcile(id: string): Promise<void> {
    const service = getService(id)
    if (!service) return
    if (service.deleting) return this.#remove(service)
    try {
      await this.#apply(service)
      observe(service, null)
    } catch (error) {
      log.error('a service could not be brought into its desired state', {
        service: id,
        error: messageOf(error),
      })
      observe(service, messageOf(error))
    }
  }

  async #apply(service: ServiceRow): Promise<void> {
    const live = service.live_deploy_id === null ? undefined : getDeploy(service.live_deploy_id)
    const runs = live !== undefined && live.site_id === null && !servicesStoppedFirst().has(service.id)
    const wanted = runs ? wantedInstances(service) : 0
    // A change of the service itself may mean another route.
    let isRouteChanged = service.observed_generation !== service.generation || service.apply_error !== null
    const current = instancesOf(service.id).filter(
      ({ deploy_id, status }) => deploy_id === live?.id && status !== 'draining',
    )
    const extra = current.splice(wanted)
    const former = instancesOf(service.id).filter(
      ({ deploy_id, status }) => deploy_id !== live?.id && status !== 'draining' && !isRollingOut(deploy_id),
    )
    for (const { id } of [...extra, ...former]) {
      log.debug('removing a surplus instance', { instance: id, wanted })
      isRouteChanged = true
      tryMove(instanceMachine, id, 'draining', { left_rotation_at: Date.now() })
    }
    if (live && wanted > 0)
      isRouteChanged = (await this.#keepUp(service, live, current, wanted)) || isRouteChanged
    if (isRouteChanged) await this.#world.dataPlane.sync()
    const draining = instancesOf(service.id).filter(({ status }) => status === 'draining')
    for (const instance of draining) {
      // The drain outlasts this pass. This call fails if the engine does not answer, so that waiting requests learn it.
      await this.#world.engine.containers.inspect(instance.id)
      this.#upkeep.drain(instance)
    }
  }

  /** Brings a service's instances up to the wanted number. Returns whether one left rotation. */
  async #keepUp(
    service: ServiceRow,
    live: DeployRow,
    current: InstanceRow[],
    wanted: number,
  ): Promise<boolean> {
    const { engine } = this.#world
    const network = await ensureNetwork(this.#world, findEnvironment(service.environment_id))
    while (current.length < wanted && this.#mayAdd(service, live)) {
      current.push(getInstance(addInstance(service, live.id, network))!)
    }
    let hasLeft = false
    for (const { id } of current) {
      const container = await engine.containers.inspect(id)
      // It may have come up, or be gone, since it was listed.
      const instance = getInstance(id)
      if (instance) hasLeft = this.#upkeep.keepUp(instance, container, network) || hasLeft
    }
    return hasLeft
  }

  /** Whether an instance may be added: not to a service with a disk that has one, since two must not write to it. */
  #mayAdd(service: ServiceRow, live: DeployRow): boolean {
    if (instancesOf(service.id).length === 0) return true
    return (openSnapshot(live)?.disk_mount_path ?? null) === null
  }

  #remove(service: ServiceRow): void {
    this.#removals.start({
      key: service.id,
      pauseMs: this.#failures.backOffMs(service.id),
      run: () => this.#removeService(service),
      onFailure: (error) => {
        this.#failures.record(service.id)
        observe(getService(service.id) ?? service, messageOf(error))
      },
      onEnd: () => {
        if (getService(service.id)) this.look(service.id)
      },
    })
  }

  async #removeService(service: ServiceRow): Promise<void> {
    const { containers, volumes } = this.#world.engine
    await this.#world.dataPlane.sync()
    // Its deploys and jobs were canceled, but until they have ended they could create again what is removed here.
    await this.#workDone(service.id)
    await forEachLimited(instancesOf(service.id), PARALLEL, (instance) => this.#upkeep.remove(instance))
    const strays = await containers.list({ 'deployer.service': service.id })
    await forEachLimited(strays, PARALLEL, ({ name }) => containers.remove(name))
    await volumes.remove(diskName(service.id))
    deleteServiceRow(service.id)
    await removeServiceLog(service.id)
    this.#failures.forget(service.id)
    announceService(service.id, 'deleted')
    passEnded(service.id)
  }
}

/** Whether a change of a service does not concern the engine: it has no containers and needs none. */
function hasNothingToApply(service: ServiceRow): boolean {
  const live = service.live_deploy_id === null ? undefined : getDeploy(service.live_deploy_id)
  const wanted = live && live.site_id === null ? wantedInstances(service) : 0
  return wanted === 0 && !service.deleting && instancesOf(service.id).length === 0
}

function isRollingOut(deployId: string): boolean {
  const status = getDeploy(deployId)?.status
  return status === 'deploying' || status === 'queued'
}

function observe(service: ServiceRow, error: string | null): void {
  observeService(service.id, service.generation, error)
  passEnded(service.id)
}

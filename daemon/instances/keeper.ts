import { onChange } from '#server/changes.ts'
import { getDeploy } from '#server/deploys/store.ts'
import { messageOf } from '#server/errors.ts'
import { allInstances, instancesOf, type InstanceRow } from '#server/instances/store.ts'
import { logger } from '#server/log.ts'
import { schedule } from '#server/options/schedule.ts'
import { allServices, getService, type ServiceRow } from '#server/services/store.ts'
import { wantedInstances } from '#server/services/types.ts'
import { answerOf, isLost } from '../nodes/presence.ts'
import type { Task } from '../work/driver.ts'
import { forEachLimited } from '../work/each.ts'
import type { World } from '../world.ts'
import { listInstances, type Listing } from './listing.ts'
import { observe } from './observing.ts'
import { servicesToReconcile } from './out-of-step.ts'
import { ServicePass } from './service-pass.ts'
import { ServiceRemovals, type Belongings } from './service-removals.ts'
import { Upkeep } from './upkeep.ts'

const log = logger('instances')

/** Services reconciled in parallel. */
const PARALLEL = 8

/**
 * Keeps the containers of every service in their desired state: starts missing ones from the live deploy's snapshot,
 * restarts those that ended, drains and removes surplus ones, and removes deleted services. Those on a node that is being
 * drained are replaced elsewhere before they leave, those on a lost one at once. Instances of a deploy that is rolling out
 * belong to the rollout until it is live.
 */
export class InstanceKeeper {
  readonly #world: World
  readonly #upkeep: Upkeep
  readonly #pass: ServicePass
  readonly #removals: ServiceRemovals
  readonly #stopListening: () => void
  readonly #dirty = new Set<string>()
  #lastSweep = -Infinity
  /** The nodes on which no program has ended with the engine, or unseen, since the last sweep. */
  readonly #compared = new Set<string>()
  #wake: () => void = () => {}

  constructor(world: World, belongings: Belongings) {
    this.#world = world
    this.#upkeep = new Upkeep(world, (serviceId) => this.look(serviceId))
    this.#pass = new ServicePass(world, this.#upkeep)
    this.#removals = new ServiceRemovals(world, this.#upkeep, belongings, (id) => this.look(id))
    this.#stopListening = onChange(({ kind, id, service_id, action }) => {
      if (kind === 'node') this.#nodeChanged(id)
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

  /** Requests a pass over everything when the engine of a node answers for the first time or again. */
  engineAnswers(nodeId: string): void {
    this.#compared.delete(nodeId)
    this.lookAtAll()
  }

  /** Requests a pass over everything when the engine went away. */
  lookAtAll(): void {
    this.#lastSweep = -Infinity
    this.#wake()
  }

  /** A lost node is not waited for: what was there is replaced before the others are looked at. */
  #nodeChanged(nodeId: string): void {
    if (!isLost(nodeId)) return this.lookAtAll()
    for (const { node_id, service_id } of allInstances()) if (node_id === nodeId) this.look(service_id)
  }

  /** Stops an instance's program; the next pass restarts it. */
  restart(instance: Pick<InstanceRow, 'id' | 'service_id' | 'node_id'>): void {
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

  /** Lists the containers of every node, marks services that are not in their desired state, and removes strays. */
  async #sweep(): Promise<void> {
    let listing: Listing
    try {
      listing = await listInstances(this.#world)
    } catch (error) {
      return this.#observeAll(messageOf(error))
    }
    const { containers, listed, strays } = listing
    const fresh = new Set([...listed].filter((nodeId) => !this.#compared.has(nodeId)))
    if (fresh.size > 0 && this.#upkeep.startEnded(containers, fresh)) await this.#world.dataPlane.sync()
    for (const nodeId of fresh) this.#compared.add(nodeId)
    for (const id of servicesToReconcile(containers, listed, (id) => this.isPaused(id))) {
      log.debug('a service is not in its desired state', { service: id })
      this.#dirty.add(id)
    }
    await forEachLimited(strays, PARALLEL, ({ nodeId, engine, name }) =>
      answerOf(nodeId, engine.containers.remove(name)).catch((error: unknown) =>
        log.warn('a container that belongs to nothing could not be removed', {
          name,
          error: messageOf(error),
        }),
      ),
    )
  }

  /** Reports to requests that wait for a change that the engine does not answer; does nothing until it has been asked. */
  #observeAll(reason: string | null): void {
    if (reason === null) return
    for (const service of allServices()) observe(service, hasNothingToApply(service) ? null : reason)
  }

  async #reconcile(id: string): Promise<void> {
    const service = getService(id)
    if (!service) return
    if (service.deleting) return this.#removals.start(service)
    try {
      await this.#pass.run(service)
      observe(service, null)
    } catch (error) {
      log.error('a service could not be brought into its desired state', {
        service: id,
        error: messageOf(error),
      })
      observe(service, messageOf(error))
    }
  }
}

/** Whether a change of a service does not concern the engine: it has no containers and needs none. */
function hasNothingToApply(service: ServiceRow): boolean {
  const live = service.live_deploy_id === null ? undefined : getDeploy(service.live_deploy_id)
  const wanted = live && live.site_id === null ? wantedInstances(service) : 0
  return wanted === 0 && !service.deleting && instancesOf(service.id).length === 0
}

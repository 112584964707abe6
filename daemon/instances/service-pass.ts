import { announceNode } from '#server/changes.ts'
import { getDeploy, openSnapshot, servicesStoppedFirst, type DeployRow } from '#server/deploys/store.ts'
import { isDiskHeld } from '#server/disks/holds.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { instanceMachine } from '#server/instances/states.ts'
import { getInstance, instancesOf, type InstanceRow } from '#server/instances/store.ts'
import { logger } from '#server/log.ts'
import { noteStuck } from '#server/nodes/stuck.ts'
import type { ServiceRow } from '#server/services/store.ts'
import { wantedInstances } from '#server/services/types.ts'
import { tryMove } from '#server/state-machine.ts'
import type { ContainerState } from '../engine/index.ts'
import { answerOf, answers, isLost } from '../nodes/presence.ts'
import type { World } from '../world.ts'
import { addInstance } from './containers.ts'
import { PassNetworks } from './pass-networks.ts'
import { placeFor } from './place.ts'
import { divide, type Shares } from './shares.ts'
import type { Upkeep } from './upkeep.ts'

const log = logger('instances')

/** A pass over a service, which brings its instances closer to what they should be. */
export class ServicePass {
  readonly #world: World
  readonly #upkeep: Upkeep

  constructor(world: World, upkeep: Upkeep) {
    this.#world = world
    this.#upkeep = upkeep
  }

  /** Throws what keeps the service from its desired state. */
  async run(service: ServiceRow): Promise<void> {
    const live = service.live_deploy_id === null ? undefined : getDeploy(service.live_deploy_id)
    const mayRun = !servicesStoppedFirst().has(service.id) && !isDiskHeld(service.id)
    const runs = live !== undefined && live.site_id === null && mayRun
    const wanted = runs ? wantedInstances(service) : 0
    // A change of the service itself may mean another route.
    let isRouteChanged = service.observed_generation !== service.generation || service.apply_error !== null
    if (this.#giveUpLost(service)) await this.#world.dataPlane.sync()
    const current = instancesOf(service.id).filter(
      ({ deploy_id, status }) => deploy_id === live?.id && status !== 'draining',
    )
    const shares = divide(current, wanted, () => live !== undefined && hasDisks(live))
    const former = instancesOf(service.id).filter(
      ({ deploy_id, status }) => deploy_id !== live?.id && status !== 'draining' && !isRollingOut(deploy_id),
    )
    for (const { id } of [...shares.surplus, ...former]) {
      log.debug('removing a surplus instance', { instance: id, wanted })
      isRouteChanged = true
      tryMove(instanceMachine, id, 'draining', { left_rotation_at: Date.now() })
    }
    let fault: unknown
    if (live && wanted > 0) {
      const { hasLeft, failure } = await this.#keepUp(service, live, shares, wanted)
      isRouteChanged ||= hasLeft
      fault = failure
    }
    if (isRouteChanged) await this.#world.dataPlane.sync()
    const draining = instancesOf(service.id).filter(({ status }) => status === 'draining')
    for (const instance of draining) {
      if (!answers(this.#world, instance.node_id)) continue
      // The drain outlasts this pass. This call fails if the engine does not answer, so that waiting requests learn it.
      await this.#inspect(instance)
      this.#upkeep.drain(instance)
    }
    if (fault !== undefined) throw fault as Error
  }

  /**
   * Deletes a service's instances on lost nodes, so that others are started in their place; with a disk they stay and count as
   * down, since nothing else may write to it. Those that are rolling out are their rollout's. Returns whether there were any.
   */
  #giveUpLost(service: ServiceRow): boolean {
    const lost = instancesOf(service.id).filter(
      ({ node_id, deploy_id }) => isLost(node_id) && !isRollingOut(deploy_id),
    )
    return lost.filter((instance) => this.#upkeep.giveUp(instance)).length > 0
  }

  #inspect({ id, node_id }: InstanceRow): Promise<ContainerState | null> {
    return answerOf(node_id, this.#world.engineOf(node_id).containers.inspect(id))
  }

  /**
   * Brings a service's instances up to the wanted number, and those that leave up until they are replaced. Returns whether one
   * left rotation, and what failed: what concerns one node does not keep it from looking at the others.
   */
  async #keepUp(
    service: ServiceRow,
    live: DeployRow,
    { kept, leaving }: Shares,
    wanted: number,
  ): Promise<{ hasLeft: boolean; failure: unknown }> {
    const networks = new PassNetworks(this.#world, service)
    const { added, failure: unplaced } = await this.#add(service, live, networks, wanted - kept.length)
    const isServed = kept.length + added.length + leaving.length >= wanted
    let failure = isServed ? undefined : unplaced
    this.#tellStuck(service, leaving, unplaced)
    let hasLeft = false
    const failed = new Set<string>()
    for (const each of [...kept, ...added, ...leaving]) {
      if (failed.has(each.node_id) || !answers(this.#world, each.node_id)) continue
      try {
        const network = await networks.on(each.node_id)
        const container = await this.#inspect(each)
        // It may have come up, or be gone, since it was listed.
        const instance = getInstance(each.id)
        if (instance) hasLeft = this.#upkeep.keepUp(instance, container, network) || hasLeft
      } catch (error) {
        failed.add(each.node_id)
        failure ??= error
      }
    }
    return { hasLeft, failure }
  }

  /** Tells why instances cannot leave the nodes that they are to leave, when that has changed. */
  #tellStuck({ id }: ServiceRow, leaving: readonly InstanceRow[], unplaced: unknown): void {
    const reason = leaving.length > 0 && unplaced !== undefined ? messageOf(unplaced) : null
    if (!noteStuck(id, reason)) return
    if (reason !== null) log.warn('an instance cannot leave its node yet', { service: id, reason })
    for (const nodeId of new Set(leaving.map(({ node_id }) => node_id))) announceNode(nodeId)
  }

  /** Records so many more instances, each where there is room; `failure` says why one has no place. */
  async #add(
    service: ServiceRow,
    live: DeployRow,
    networks: PassNetworks,
    count: number,
  ): Promise<{ added: InstanceRow[]; failure: unknown }> {
    const added: InstanceRow[] = []
    try {
      while (added.length < count && this.#mayAdd(service, live)) {
        const snapshot = openSnapshot(live)
        if (!snapshot) throw new Error(`the live deploy ${live.id} has no snapshot: deploy again`)
        const place = await placeFor(this.#world, service, live.id, snapshot)
        if ('fault' in place) throw new AppError('runtime_error', place.fault)
        // It may be the first in its environment's network.
        await networks.on(place.nodeId)
        added.push(getInstance(addInstance(service, live.id, place.nodeId))!)
      }
      return { added, failure: undefined }
    } catch (failure) {
      return { added, failure }
    }
  }

  /** Whether an instance may be added: not to a service with a disk that has one, since two must not write to it. */
  #mayAdd(service: ServiceRow, live: DeployRow): boolean {
    return instancesOf(service.id).length === 0 || !hasDisks(live)
  }
}

function hasDisks(deploy: DeployRow): boolean {
  return (openSnapshot(deploy)?.disks ?? []).length > 0
}

function isRollingOut(deployId: string): boolean {
  const status = getDeploy(deployId)?.status
  return status === 'deploying' || status === 'queued'
}

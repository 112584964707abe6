import { announceService } from '#server/changes.ts'
import { useDatabase } from '#server/context.ts'
import { getDeploy, openSnapshot } from '#server/deploys/store.ts'
import { messageOf } from '#server/errors.ts'
import { instanceMachine } from '#server/instances/states.ts'
import { allInstances, getInstance, updateInstance, type InstanceRow } from '#server/instances/store.ts'
import { logger } from '#server/log.ts'
import { tryMove } from '#server/state-machine.ts'
import { emitEvent } from '#server/notifications/events.ts'
import { getService } from '#server/services/store.ts'
import type { ContainerState } from '../engine/index.ts'
import type { Network } from '../environments/networks.ts'
import { nameOfNode } from '../nodes/presence.ts'
import { forgetInstance, lossOf, removeInstance, stopSecondsOf } from './containers.ts'
import { prepareLaunch } from './launch.ts'
import { noteInService } from '../logs/notes.ts'
import type { World } from '../world.ts'
import { Background } from '../work/background.ts'
import { hasDisks } from './bound.ts'
import { bringUp } from './bring-up.ts'
import { Drains } from './drains.ts'
import { endColumns, recordCrash } from './ends.ts'
import { CrashHistory } from '../work/crashes.ts'
import { endOf, NotReady, READY_WITHIN_MS } from './readiness.ts'
import type { Containers } from './out-of-step.ts'

const log = logger('instances')

/** Keeps single instances running, and removes those that left rotation. `look` requests another pass over a service. */
export class Upkeep {
  readonly #world: World
  readonly #look: (serviceId: string) => void
  readonly #background = new Background()
  readonly #drains: Drains
  readonly #crashes = new CrashHistory()
  readonly #paused = new Set<string>()
  /** Those that this server stops so that they start again: their ends are no crashes. */
  readonly #stopped = new Set<string>()
  /** Those with a disk on a lost node, which wait for it. */
  readonly #waiting = new Set<string>()
  /** Since when an instance has been starting, over all its tries, on the monotonic clock. */
  readonly #comingUpSince = new Map<string, number>()

  constructor(world: World, look: (serviceId: string) => void) {
    this.#world = world
    this.#look = look
    const [cancel, forget] = [(id: string) => this.#background.cancel(id), (id: string) => this.#forget(id)]
    this.#drains = new Drains(world, { cancel, forget, look })
  }

  /** Whether an instance's program ended so often recently that it counts as down. */
  isLooping(instanceId: string): boolean {
    return this.#crashes.isLooping(instanceId)
  }

  /** Whether an instance's container was paused externally at the last check. */
  isPaused(instanceId: string): boolean {
    return this.#paused.has(instanceId)
  }

  /**
   * Brings an instance of the live deploy up if its container does not run, or lost its network or settings. Returns whether
   * the instance left rotation.
   */
  keepUp(instance: InstanceRow, container: ContainerState | null, network: Network): boolean {
    const { id, service_id, status } = instance
    this.#waiting.delete(id)
    if (container?.paused) this.#paused.add(id)
    else this.#paused.delete(id)
    if (this.#background.has(id)) return false
    const end = endOf(container, (found) => lossOf(found, instance, network))
    const wasUp = isUp(status)
    if (end === null && wasUp) return false
    const ended = end !== null && wasUp
    if (ended) this.#recordEnd(instance, container, end)
    this.#background.start({
      key: id,
      pauseMs: this.#crashes.backOffMs(id),
      run: (signal) => this.#bringUp(id, signal),
      onFailure: (error) => this.#startFailed(instance, error),
      onEnd: () => this.#look(service_id),
    })
    return ended
  }

  /**
   * Marks instances that ended with the engine, or before this server started, as starting: they did not crash. An engine
   * that stops may report their ends before it is gone: those are down already, and may even run again. Instances in a crash
   * loop stay down. Looks at those on `nodes`, whose containers are listed. Returns whether there were any.
   */
  startEnded(containers: Containers, nodes: ReadonlySet<string>): boolean {
    const ended = allInstances().filter(
      ({ id, node_id, status }) =>
        nodes.has(node_id) && (status === 'down' || !containers.get(id)?.running) && !this.isLooping(id),
    )
    return ended.filter((each) => this.#startAgain(each, containers.get(each.id) ?? null)).length > 0
  }

  /** Lets an instance that left rotation finish its requests, then stops and removes it. */
  drain(instance: InstanceRow): void {
    this.#drains.start(instance)
  }

  /** Stops an instance's program; the next pass restarts it. */
  restart(instance: Pick<InstanceRow, 'id' | 'service_id' | 'node_id'>): void {
    this.#stopped.add(instance.id)
    this.#background.start({
      key: instance.id,
      pauseMs: 0,
      run: async () => {
        const { containers } = this.#world.engineOf(instance.node_id)
        await containers.stop(instance.id, stopSecondsOf(instance))
      },
      onFailure: (error) =>
        log.warn('an instance could not be stopped', { instance: instance.id, error: messageOf(error) }),
      onEnd: () => this.#look(instance.service_id),
    })
  }

  /** Cancels its work, then stops and removes an instance at once, for a service that is deleted. */
  async remove(instance: InstanceRow): Promise<void> {
    await Promise.all([this.#background.cancel(instance.id), this.#drains.cancel(instance.id)])
    await removeInstance(this.#world, instance, stopSecondsOf(instance))
    this.#forget(instance.id)
  }

  /**
   * Gives up an instance on a lost node: deletes it, or with a disk, beside which no other may start, lets it count as down
   * until the node is back. Returns whether that is news.
   */
  giveUp(instance: InstanceRow): boolean {
    const { id, service_id, node_id, status } = instance
    const isBound = status !== 'draining' && hasDisks(instance.deploy_id)
    if (isBound && status === 'down' && this.#waiting.has(id)) return false
    for (const work of [this.#background, this.#drains]) void work.cancel(id)
    const how = `its node ${nameOfNode(node_id)} is down`
    if (isBound) {
      this.#waiting.add(id)
      tryMove(instanceMachine, id, 'down')
      updateInstance(id, { reason: how })
    } else {
      forgetInstance(id)
      this.#forget(id)
    }
    log.warn('an instance is lost with its node', { instance: id, node: nameOfNode(node_id) })
    const next = isBound ? 'it waits for it, because of its disk' : 'starting another'
    if (status !== 'draining') noteInService(service_id, id, `${how}; ${next}`)
    announceService(service_id)
    return true
  }

  /** Stops the work; the next start finds and finishes what is half done. */
  stop(): void {
    this.#background.stop()
    this.#drains.stop()
  }

  #forget(id: string): void {
    this.#crashes.forget(id)
    this.#paused.delete(id)
    this.#stopped.delete(id)
    this.#waiting.delete(id)
    this.#comingUpSince.delete(id)
  }

  #recordEnd(instance: InstanceRow, container: ContainerState | null, how: string): void {
    const { id, service_id } = instance
    const exitCode = container?.exitCode ?? null
    const isAsked = this.#stopped.delete(id)
    this.#crashes.record(id)
    useDatabase().transaction(() => {
      tryMove(instanceMachine, id, 'down', endColumns(instance, exitCode, how))
      if (container?.oomKilled) emitEvent('service.out_of_memory', service_id, id)
      else if (!isAsked) recordCrash(instance, exitCode, how)
    })
    log.warn('an instance ended', { instance: instance.id, how })
    noteInService(instance.service_id, instance.id, `${how}; restarting it`)
    announceService(instance.service_id)
  }

  #startAgain(instance: InstanceRow, container: ContainerState | null): boolean {
    const { id, service_id, status } = instance
    const how = endOf(container, () => null)
    const isNews = how !== null && isUp(status)
    const columns = isNews ? endColumns(instance, container?.exitCode ?? null, how) : {}
    if (!tryMove(instanceMachine, id, 'starting', columns)) return false
    this.#comingUpSince.delete(id)
    log.info('restarting an instance', { instance: id, how: how ?? 'it ended shortly before' })
    if (isNews) noteInService(service_id, id, `${how}; restarting it`)
    announceService(service_id)
    return true
  }

  async #bringUp(id: string, signal: AbortSignal): Promise<void> {
    const instance = getInstance(id)
    const service = instance && getService(instance.service_id)
    const live = service?.live_deploy_id ? getDeploy(service.live_deploy_id) : undefined
    if (!instance || !service || instance.status === 'draining' || instance.deploy_id !== live?.id) return
    const snapshot = openSnapshot(live)
    if (!snapshot) throw new Error(`the live deploy ${live.id} has no snapshot: deploy again`)
    if (!this.#comingUpSince.has(id)) this.#comingUpSince.set(id, performance.now())
    const { node_id } = instance
    const prepare = () => prepareLaunch(this.#world, service, live, snapshot, node_id)
    const say = (hint: string) => noteInService(service.id, id, hint)
    try {
      await bringUp(this.#world, prepare, id, { ends: null, say }, signal)
    } catch (error) {
      // Stop an instance that hangs, because a start would not change a running container.
      if (error instanceof NotReady)
        await this.#world.engineOf(node_id).containers.stop(id, stopSecondsOf(instance))
      throw error
    }
    // An instance in a crash loop serves if there is no other, but counts as failing until it has stayed up.
    const status = this.isLooping(id) ? 'failing' : 'ready'
    await this.#world.dataPlane.admit(id, status, () => {
      if (!tryMove(instanceMachine, id, status)) return
      this.#comingUpSince.delete(id)
      announceService(service.id)
    })
  }

  #startFailed({ id, service_id }: InstanceRow, error: unknown): void {
    const reason = messageOf(error)
    this.#crashes.record(id)
    log.warn('an instance does not come up', { instance: id, error: reason })
    noteInService(service_id, id, `${reason}; restarting it`)
    const isDown = !this.#mayStillComeUp(id, error) && tryMove(instanceMachine, id, 'down', { reason })
    if (!isDown) updateInstance(id, { reason })
    announceService(service_id)
    if (!isDown) return
    this.#comingUpSince.delete(id)
    this.#world.dataPlane
      .sync()
      .catch((error: unknown) =>
        log.warn('the data plane did not accept the route table', { error: messageOf(error) }),
      )
  }

  /** Whether an instance whose program did not come up still counts as starting: at most as long as a deploy may take. */
  #mayStillComeUp(id: string, error: unknown): boolean {
    const since = this.#comingUpSince.get(id)
    if (!(error instanceof NotReady) || since === undefined || this.isLooping(id)) return false
    return performance.now() - since < READY_WITHIN_MS
  }
}

function isUp(status: InstanceRow['status']): boolean {
  return status === 'ready' || status === 'failing'
}

import { announceService } from '#server/changes.ts'
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
import { lossOf, removeInstance, STOP_GRACE_SECONDS } from './containers.ts'
import { prepareLaunch } from './launch.ts'
import { noteInService } from '../logs/notes.ts'
import type { World } from '../world.ts'
import { Background } from '../work/background.ts'
import { bringUp } from './bring-up.ts'
import { CrashHistory } from '../work/crashes.ts'
import { endOf, NotReady, READY_WITHIN_MS } from './readiness.ts'
import type { Containers } from './out-of-step.ts'
import { waitAfterRotation } from './rotation.ts'

const log = logger('instances')

/** How long open requests of an instance that left rotation may take. */
const DRAIN_MS = 30_000

/** Keeps single instances running, and removes those that left rotation. `look` requests another pass over a service. */
export class Upkeep {
  readonly #world: World
  readonly #look: (serviceId: string) => void
  readonly #background = new Background()
  readonly #crashes = new CrashHistory()
  readonly #paused = new Set<string>()
  /** Since when an instance has been starting, over all its tries, on the monotonic clock. */
  readonly #comingUpSince = new Map<string, number>()

  constructor(world: World, look: (serviceId: string) => void) {
    this.#world = world
    this.#look = look
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
    if (container?.paused) this.#paused.add(id)
    else this.#paused.delete(id)
    if (this.#background.has(id)) return false
    const end = endOf(container, (found) => lossOf(found, instance, network))
    const wasUp = isUp(status)
    if (end === null && wasUp) return false
    const ended = end !== null && wasUp
    if (ended) this.#recordEnd(instance, container?.exitCode ?? null, end)
    if (ended && container?.oomKilled) emitEvent('service.out_of_memory', service_id, id)
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
   * loop stay down. Returns whether there were any.
   */
  startEnded(containers: Containers): boolean {
    const ended = allInstances().filter(
      ({ id, status }) => (status === 'down' || !containers.get(id)?.running) && !this.isLooping(id),
    )
    return ended.filter((each) => this.#startAgain(each, containers.get(each.id) ?? null)).length > 0
  }

  /** Lets an instance that left rotation finish its requests, then stops and removes it. */
  drain(instance: InstanceRow): void {
    const key = `drain ${instance.id}`
    this.#background.start({
      key,
      pauseMs: this.#crashes.backOffMs(key),
      run: async (signal) => {
        await this.#background.cancel(instance.id)
        await this.#drain(instance.id, signal)
        this.#crashes.forget(key)
      },
      onFailure: (error) => {
        this.#crashes.record(key)
        log.warn('an instance could not be removed', { instance: instance.id, error: messageOf(error) })
      },
      onEnd: () => this.#look(instance.service_id),
    })
  }

  /** Stops an instance's program; the next pass restarts it. */
  restart(instance: Pick<InstanceRow, 'id' | 'service_id'>): void {
    this.#background.start({
      key: instance.id,
      pauseMs: 0,
      run: () => this.#world.engine.containers.stop(instance.id, STOP_GRACE_SECONDS),
      onFailure: (error) =>
        log.warn('an instance could not be stopped', { instance: instance.id, error: messageOf(error) }),
      onEnd: () => this.#look(instance.service_id),
    })
  }

  /** Cancels its work, then stops and removes an instance at once, for a service that is deleted. */
  async remove(instance: InstanceRow): Promise<void> {
    await Promise.all([this.#background.cancel(instance.id), this.#background.cancel(`drain ${instance.id}`)])
    await removeInstance(this.#world, instance, STOP_GRACE_SECONDS)
    this.#forget(instance.id)
  }

  /** Stops the work; the next start finds and finishes what is half done. */
  stop(): void {
    this.#background.stop()
  }

  #forget(id: string): void {
    this.#crashes.forget(id)
    this.#paused.delete(id)
    this.#comingUpSince.delete(id)
  }

  #recordEnd(instance: InstanceRow, exitCode: number | null, how: string): void {
    this.#crashes.record(instance.id)
    tryMove(instanceMachine, instance.id, 'down', endColumns(instance, exitCode, how))
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
    const prepare = () => prepareLaunch(this.#world, service, live, snapshot)
    const say = (hint: string) => noteInService(service.id, id, hint)
    try {
      await bringUp(this.#world, prepare, id, { ends: null, say }, signal)
    } catch (error) {
      // Stop an instance that hangs, because a start would not change a running container.
      if (error instanceof NotReady) await this.#world.engine.containers.stop(id, STOP_GRACE_SECONDS)
      throw error
    }
    // An instance in a crash loop serves if there is no other, but counts as failing until it has stayed up.
    const moved = tryMove(instanceMachine, id, this.isLooping(id) ? 'failing' : 'ready')
    if (!moved) return
    this.#comingUpSince.delete(id)
    announceService(service.id)
    await this.#world.dataPlane.sync()
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

  async #drain(id: string, signal: AbortSignal): Promise<void> {
    const instance = getInstance(id)
    if (!instance) return
    await this.#world.dataPlane.sync()
    await this.#world.dataPlane.drain(id, DRAIN_MS)
    await waitAfterRotation(instance, signal)
    signal.throwIfAborted()
    await removeInstance(this.#world, instance, STOP_GRACE_SECONDS)
    this.#forget(id)
    announceService(instance.service_id)
  }
}

function isUp(status: InstanceRow['status']): boolean {
  return status === 'ready' || status === 'failing'
}

/** Returns the columns to record for the end of an instance's program. */
function endColumns({ restarts }: InstanceRow, exitCode: number | null, reason: string) {
  return { exit_code: exitCode, restarts: restarts + 1, reason }
}

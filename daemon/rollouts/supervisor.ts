import { setTimeout as delay } from 'node:timers/promises'
import { onChange, tellService } from '#server/changes.ts'
import { getDeploy, openSnapshot, type DeployRow, type Snapshot } from '#server/deploys/store.ts'
import { findEnvironment } from '#server/environments/store.ts'
import { messageOf } from '#server/errors.ts'
import { instanceMachine } from '#server/instances/states.ts'
import { getInstance, instancesOf, updateInstance, type InstanceRow } from '#server/instances/store.ts'
import { logger } from '#server/log.ts'
import { tryMove } from '#server/machine.ts'
import { hostsOf } from '#server/services/hosts.ts'
import {
  allServices,
  deleteServiceRow,
  getService,
  observeService,
  type ServiceRow,
} from '#server/services/store.ts'
import type { Task } from '../driver.ts'
import { passEnded } from '../settled.ts'
import { addInstance, removeInstance, startInstance, STOP_GRACE_SECONDS } from '../instances/containers.ts'
import { forEachLimited } from '../limits.ts'
import type { World } from '../world.ts'
import { CrashHistory } from './crashes.ts'
import { describeExit, waitUntilReady } from './readiness.ts'

const log = logger('instances')

/** A whole look at the engine, for what no event told. */
const PERIOD_MS = 15_000
/** Services reconciled at one time. */
const PARALLEL = 8
/** Requests of an instance that left rotation may take this long. */
const DRAIN_MS = 30_000
/** Container to container traffic does not pass the data plane: an instance outlives its rotation by this. */
const AFTER_ROTATION_MS = 5_000

/**
 * Makes the containers of every service what they should be: starts missing ones from the live deploy's snapshot,
 * starts again those that ended, drains and removes those that are too many, and removes deleted services.
 * Instances of a deploy that is rolling out belong to the rollout until it is live.
 */
export class Supervisor {
  readonly #world: World
  readonly #stopListening: () => void
  readonly #dirty = new Set<string>()
  readonly #busy = new Map<string, Promise<void>>()
  readonly #crashes = new CrashHistory()
  readonly #abort = new AbortController()
  #lastSweep = -Infinity
  #wake: () => void = () => {}

  constructor(world: World) {
    this.#world = world
    this.#stopListening = onChange(({ kind, service_id, action }) => {
      if (service_id !== null && (kind === 'service' || (kind === 'deploy' && action === 'updated')))
        this.look(service_id)
    })
  }

  task(wake: () => void): Task {
    this.#wake = wake
    return { name: 'instances', everyMs: PERIOD_MS, run: () => this.#run() }
  }

  /** Asks for a service to be looked at soon. */
  look(serviceId: string): void {
    this.#dirty.add(serviceId)
    this.#wake()
  }

  /** Whether an instance's program ended so often lately that it counts as down. */
  isLooping(instanceId: string): boolean {
    return this.#crashes.isLooping(instanceId)
  }

  /** Asks for a look at everything, after the engine came back or a container was changed from outside. */
  lookAtAll(): void {
    this.#lastSweep = -Infinity
    this.#wake()
  }

  /** Stops an instance's program, which is then found ended and started again. */
  restart(instance: Pick<InstanceRow, 'id' | 'service_id'>): void {
    this.#background(instance.id, instance.service_id, () =>
      this.#world.engine.containers.stop(instance.id, STOP_GRACE_SECONDS),
    )
  }

  /** Ends the work; what is half done is found and finished by the next start. */
  stop(): void {
    this.#stopListening()
    this.#abort.abort()
  }

  async #run(): Promise<void> {
    const isSweep = performance.now() - this.#lastSweep >= PERIOD_MS
    if (isSweep) {
      for (const { id } of allServices()) this.#dirty.add(id)
      this.#lastSweep = performance.now()
    }
    if (this.#world.reachByAddress === null) return this.#observeAll(this.#world.engineFault)
    const states = await this.#containers()
    const ids = [...this.#dirty].filter((id) => !this.#busy.has(id))
    for (const id of ids) this.#dirty.delete(id)
    await forEachLimited(ids, PARALLEL, (id) => this.#reconcile(id, states))
    if (isSweep && typeof states !== 'string') await this.#removeStrays(states)
  }

  /** Containers without a record, left by a removal that was cut off. A record is always made before its container. */
  async #removeStrays(containers: Containers): Promise<void> {
    const strays = [...containers.keys()].filter((name) => !getInstance(name))
    await forEachLimited(strays, PARALLEL, (name) => this.#world.engine.containers.remove(name))
  }

  /** Tells who waits for a change that the engine does not answer; nothing while it has not been asked. */
  #observeAll(reason: string | null): void {
    if (reason === null) return
    for (const id of this.#dirty) {
      const service = getService(id)
      if (service) observe(service, reason)
    }
  }

  /** Every container of an instance by name; null while the engine does not answer. */
  async #containers(): Promise<Containers | string> {
    try {
      const found = await this.#world.engine.containers.list({ 'deployer.kind': 'instance' })
      return new Map(found.map((state) => [state.name, state]))
    } catch (error) {
      return messageOf(error)
    }
  }

  async #reconcile(id: string, containers: Containers | string): Promise<void> {
    const service = getService(id)
    if (!service) return
    if (typeof containers === 'string') return observe(service, containers)
    try {
      if (service.deleting)
        return this.#background(service.id, service.id, () => this.#removeService(service, containers))
      else await this.#makeSo(service, containers)
      observe(service, null)
    } catch (error) {
      log.error('a service is not as it should be', { service: id, error: messageOf(error) })
      observe(service, messageOf(error))
    }
  }

  async #makeSo(service: ServiceRow, containers: Containers): Promise<void> {
    const live = service.live_deploy_id === null ? undefined : getDeploy(service.live_deploy_id)
    const wanted = service.suspended || !live ? 0 : service.instances
    const current = instancesOf(service.id).filter(
      ({ deploy_id, status }) => deploy_id === live?.id && status !== 'draining',
    )
    for (const extra of current.splice(wanted)) leaveRotation(extra)
    for (const instance of instancesOf(service.id)) {
      if (instance.deploy_id !== live?.id && !isRollingOut(instance.deploy_id)) leaveRotation(instance)
      if (getInstance(instance.id)?.status === 'draining') {
        this.#background(instance.id, service.id, () => this.#drain(instance.id))
      }
    }
    await this.#world.dataPlane.sync()
    if (!live || wanted === 0) return
    const snapshot = openSnapshot(live)
    if (!snapshot) throw new Error(`the live deploy ${live.id} has no snapshot: deploy again`)
    for (let missing = wanted - current.length; missing > 0; missing--) {
      const id = await addInstance(this.#world, service, live.id)
      current.push(getInstance(id)!)
    }
    for (const instance of current) await this.#keepUp(instance, service, live, snapshot, containers)
  }

  /** Brings one instance of the live deploy up when its container is not running. */
  async #keepUp(
    instance: InstanceRow,
    service: ServiceRow,
    live: DeployRow,
    snapshot: Snapshot,
    containers: Containers,
  ): Promise<void> {
    if (this.#busy.has(instance.id)) return
    const container = containers.get(instance.id)
    if (container?.running && instance.status !== 'starting' && instance.status !== 'down') return
    if (container && !container.running && instance.status !== 'down') {
      this.#crashes.record(instance.id)
      tryMove(instanceMachine, instance.id, 'down', {
        exit_code: container.exitCode,
        restarts: instance.restarts + 1,
        reason: `the program ended: ${describeExit(container)}`,
      })
      log.warn('an instance ended', { instance: instance.id, exit: describeExit(container) })
      tellService(service.id)
      await this.#world.dataPlane.sync()
    }
    const wait = this.#crashes.backOffMs(instance.id)
    this.#background(instance.id, service.id, async () => {
      await delay(wait, undefined, { signal: this.#abort.signal })
      await this.#bringUp(instance.id, service.id, live, snapshot)
    })
  }

  async #bringUp(id: string, serviceId: string, live: DeployRow, snapshot: Snapshot): Promise<void> {
    const service = getService(serviceId)
    const instance = getInstance(id)
    if (!service || !instance || instance.status === 'draining' || service.live_deploy_id !== live.id) return
    const start = () => startInstance(this.#world, instance, service, live, snapshot)
    await start()
    const hostHeader = hostsOf(service, findEnvironment(service.environment_id))[0] ?? service.name
    await waitUntilReady(this.#world, id, snapshot, hostHeader, start, this.#abort.signal)
    // One that keeps ending serves, but counts as down until it has stayed up.
    const looping = this.#crashes.isLooping(id)
    const moved = looping
      ? tryMove(instanceMachine, id, 'failing', { reason: 'it keeps ending; see the log' })
      : tryMove(instanceMachine, id, 'ready', { reason: null })
    if (!moved) return
    tellService(serviceId)
    await this.#world.dataPlane.sync()
  }

  /** Lets an instance that left rotation finish its requests, then stops and removes it. */
  async #drain(id: string): Promise<void> {
    const instance = getInstance(id)
    if (!instance) return
    await this.#world.dataPlane.sync()
    await this.#world.dataPlane.drain(id, DRAIN_MS)
    const rest = AFTER_ROTATION_MS - (Date.now() - (instance.left_rotation_at ?? 0))
    if (rest > 0) await delay(Math.min(rest, AFTER_ROTATION_MS), undefined, { signal: this.#abort.signal })
    await removeInstance(this.#world, instance, STOP_GRACE_SECONDS)
    tellService(instance.service_id)
  }

  async #removeService(service: ServiceRow, containers: Containers): Promise<void> {
    await this.#world.dataPlane.sync()
    for (const instance of instancesOf(service.id)) await this.#busy.get(instance.id)
    await forEachLimited(instancesOf(service.id), PARALLEL, (instance) =>
      removeInstance(this.#world, instance, STOP_GRACE_SECONDS),
    )
    const strays = [...containers.values()].filter(({ labels }) => labels['deployer.service'] === service.id)
    await forEachLimited(strays, PARALLEL, ({ name }) => this.#world.engine.containers.remove(name))
    deleteServiceRow(service.id)
    tellService(service.id, 'deleted')
    passEnded(service.id)
  }

  /** Work that outlasts a pass, on an instance or on a whole service; one at a time for each. */
  #background(key: string, serviceId: string, work: () => Promise<void>): void {
    if (this.#busy.has(key) || this.#abort.signal.aborted) return
    const done = work()
      .catch((error: unknown) => this.#workFailed(key, serviceId, messageOf(error)))
      .finally(() => {
        this.#busy.delete(key)
        if (!this.#abort.signal.aborted) this.look(serviceId)
      })
    this.#busy.set(key, done)
  }

  #workFailed(key: string, serviceId: string, reason: string): void {
    if (this.#abort.signal.aborted) return
    log.warn('work on a container failed', { on: key, error: reason })
    const service = getService(serviceId)
    if (service && key === serviceId) return observe(service, reason)
    this.#crashes.record(key)
    if (!tryMove(instanceMachine, key, 'down', { reason })) updateInstance(key, { reason })
    tellService(serviceId)
  }
}

type Containers = Map<
  string,
  {
    name: string
    running: boolean
    exitCode: number | null
    oomKilled: boolean
    labels: Record<string, string>
  }
>

function leaveRotation(instance: InstanceRow): void {
  tryMove(instanceMachine, instance.id, 'draining', { left_rotation_at: Date.now() })
}

function isRollingOut(deployId: string): boolean {
  const status = getDeploy(deployId)?.status
  return status === 'deploying' || status === 'queued'
}

function observe(service: ServiceRow, error: string | null): void {
  observeService(service.id, service.generation, error)
  passEnded(service.id)
}

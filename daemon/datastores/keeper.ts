import { onChange, announceDatastore } from '#server/changes.ts'
import { allDatastores, getDatastore } from '#server/datastores/store.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { lostNodeFault } from '#server/nodes/lost.ts'
import { schedule } from '#server/options/schedule.ts'
import type { Task } from '../work/driver.ts'
import type { BackupWork } from '../backups/work.ts'
import type { ContainerState } from '../engine/index.ts'
import { Background } from '../work/background.ts'
import { noteInService } from '../logs/notes.ts'
import { answerOf } from '../nodes/presence.ts'
import { passEnded } from '../work/settled.ts'
import type { World } from '../world.ts'
import { isInMode } from './container.ts'
import { reasonOfEnd } from './exits.ts'
import { becomeUnavailable, DatastoreHealth } from './health.ts'
import { homeOf } from './home.ts'
import { HostPorts } from './host-ports.ts'
import { leftovers } from './leftovers.ts'
import { applyLimits } from './limits.ts'
import { recordFailure, recordPass } from './outcome.ts'
import { Pauses } from './pauses.ts'
import { removeDatastore } from './remove.ts'
import {
  createRestoresAndUpgrades,
  isBeingFilled,
  type RestoresAndUpgrades,
} from './restores-and-upgrades.ts'
import { startDatastore } from './start.ts'
import { stopDatastore } from './stop.ts'
import { isAwaited, isEmpty } from './waiting.ts'

/** After this many exits before its first answer a datastore is `failed`, though it is still restarted. */
const MAX_EXITS = 3

/** Keeps the container of every datastore as it should be, and removes deleted datastores. */
export class DatastoreKeeper {
  readonly #world: World
  readonly #health = new DatastoreHealth()
  readonly #ports = new HostPorts()
  readonly #backups: BackupWork
  readonly #restoresAndUpgrades: RestoresAndUpgrades
  /** Datastores whose container a restore or upgrade is changing now. */
  readonly #held = new Set<string>()
  readonly #passes = new Background()
  readonly #removals = new Background()
  readonly #pauses = new Pauses()
  readonly #dirty = new Set<string>()
  readonly #stopListening: () => void
  #lastSweep = -Infinity
  #wake: () => void = () => {}
  #sweep: () => void = () => {}

  constructor(world: World, backups: BackupWork) {
    this.#world = world
    this.#backups = backups
    this.#restoresAndUpgrades = createRestoresAndUpgrades(world, {
      hold: (id) => this.#hold(id),
      release: (id) => this.#release(id),
    })
    this.#stopListening = onChange(({ kind, id }) => {
      if (kind === 'node') this.#lookAtNode(id)
      if (kind !== 'datastore') return
      this.#ports.sync()
      this.look(id)
    })
  }

  /** Continues what the last run of the server left. */
  recover(hasCrashed: boolean): void {
    this.#restoresAndUpgrades.recover(hasCrashed)
  }

  /** The tasks that keep datastores; `wake` runs one of them by its name. */
  tasks(wake: (name: string) => void): Task[] {
    const sweep = leftovers(
      this.#world,
      (name) => this.#backups.isUnderWay(name) || isBeingFilled(this.#restoresAndUpgrades, name),
    )
    this.#wake = () => wake('datastores')
    this.#ports.sync()
    this.#sweep = () => wake(sweep.name)
    return [
      { name: 'datastores', everyMs: schedule.sweepEveryMs, run: () => Promise.resolve(this.#run()) },
      this.#health.task(),
      this.#restoresAndUpgrades.task(() => wake('restores-and-upgrades')),
      sweep,
    ]
  }

  /** Requests a pass over a datastore soon. */
  look(id: string): void {
    this.#dirty.add(id)
    this.#wake()
  }

  /** Requests a pass over everything, after the engine came back. */
  lookAtAll(): void {
    this.#lastSweep = -Infinity
    this.#pauses.endAll()
    this.#wake()
    this.#restoresAndUpgrades.look()
    this.#sweep()
  }

  #lookAtNode(nodeId: string): void {
    for (const { id, node_id } of allDatastores()) if (node_id === nodeId) this.look(id)
  }

  /** Stops the work; the next start finds and finishes what is half done. */
  stop(): void {
    this.#stopListening()
    this.#passes.stop()
    this.#removals.stop()
    this.#health.stop()
    this.#ports.stop()
    this.#restoresAndUpgrades.stop()
  }

  async #hold(id: string): Promise<void> {
    this.#held.add(id)
    await Promise.all([this.#passes.cancel(id), this.#health.forget(id)])
  }

  #release(id: string): void {
    this.#held.delete(id)
    this.look(id)
  }

  #run(): void {
    if (this.#world.reachByAddress === null) return this.#reportEngineFault(this.#world.engineFault)
    if (performance.now() - this.#lastSweep >= schedule.sweepEveryMs) {
      this.#lastSweep = performance.now()
      for (const { id } of allDatastores()) this.#dirty.add(id)
    }
    for (const id of this.#dirty) {
      const row = getDatastore(id)
      if (row) this.#pauses.endIfChanged(row)
      if (row?.status === 'deleting') this.#beginRemoval(id)
      else if (this.#passes.has(id) || this.#held.has(id)) continue
      else if (row) this.#beginPass(id)
      this.#dirty.delete(id)
    }
  }

  /** Reports to waiting requests that the engine does not answer; does nothing until it has been asked. */
  #reportEngineFault(reason: string | null): void {
    if (reason === null) return
    for (const { id } of allDatastores()) recordFailure(id, reason)
  }

  #beginPass(id: string): void {
    this.#passes.start({
      key: id,
      pauseMs: 0,
      run: (signal) => this.#pass(id, signal),
      onFailure: (error) => {
        this.#pauses.failures.record(id)
        recordFailure(id, messageOf(error))
      },
      onEnd: () => {
        const row = getDatastore(id)
        const isSettled = row?.apply_error === null && row.observed_generation === row.generation
        if ((row && !isSettled) || this.#dirty.has(id)) this.look(id)
      },
    })
  }

  async #pass(id: string, signal: AbortSignal): Promise<void> {
    const found = await this.#find(id, signal)
    const isRunning = found?.running === true
    if (!found) becomeUnavailable(id, 'its container was removed externally')
    else if (!isRunning && found.status !== 'created') await this.#recordEnd(id, found)
    await this.#pauses.wait(id, signal)
    const row = getDatastore(id)
    if (!row || row.status === 'deleting') return
    if (isEmpty(row)) return recordPass(row, null)
    const isAtHome = found?.networks.some(({ address }) => address === homeOf(row)) === true
    const isUp = isRunning && isAtHome && isInMode(row, found)
    if (isRunning && !isAtHome) noteInService(id, id, 'its container lost its address; restarting it')
    if (isRunning && !isUp) await stopDatastore(this.#world, row)
    if (!isUp) await startDatastore(this.#world, row, signal)
    else if (row.observed_generation !== row.generation || row.apply_error !== null) {
      await applyLimits(this.#world.engineOf(row.node_id), row)
    }
    recordPass(row, null)
    if (!isUp) announceDatastore(id)
    if (isAwaited(row)) this.#health.expect(id, (reason) => recordFailure(id, reason))
  }

  /** Returns its container. An engine that is away fails at once, so this tries once more after a pause. */
  async #find(id: string, signal: AbortSignal): Promise<ContainerState | null> {
    try {
      return await this.#inspect(id)
    } catch (error) {
      recordFailure(id, messageOf(error))
      await this.#pauses.wait(id, signal)
      return await this.#inspect(id)
    }
  }

  async #inspect(id: string): Promise<ContainerState | null> {
    const row = getDatastore(id)
    if (!row) return null
    const lost = lostNodeFault(row.node_id)
    if (lost === null) return answerOf(row.node_id, this.#world.engineOf(row.node_id).containers.inspect(id))
    becomeUnavailable(id, lost)
    throw new AppError('runtime_error', lost)
  }

  async #recordEnd(id: string, container: ContainerState): Promise<void> {
    await this.#health.forget(id)
    this.#pauses.failures.record(id)
    const reason = await reasonOfEnd(this.#world.engineOf(getDatastore(id)!.node_id), container)
    becomeUnavailable(id, reason)
    // Its last lines are in the log already.
    noteInService(id, id, `${reason.split('\n', 1)[0]}; restarting it`)
    if (this.#pauses.failures.count(id) >= MAX_EXITS) recordFailure(id, reason)
  }

  #beginRemoval(id: string): void {
    this.#removals.start({
      key: id,
      pauseMs: this.#pauses.failures.backOffMs(id),
      run: async () => {
        await Promise.all([this.#passes.cancel(id), this.#restoresAndUpgrades.cancel(id)])
        await Promise.all([this.#health.forget(id), this.#backups.cancel(id)])
        await removeDatastore(this.#world, getDatastore(id)!)
        this.#pauses.failures.forget(id)
        announceDatastore(id, 'deleted')
        passEnded(id)
      },
      onFailure: (error) => {
        this.#pauses.failures.record(id)
        recordFailure(id, messageOf(error))
      },
      onEnd: () => {
        if (getDatastore(id)) this.look(id)
      },
    })
  }
}

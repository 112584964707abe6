import { setTimeout as delay } from 'node:timers/promises'
import { onChange, announceDatastore } from '#server/changes.ts'
import {
  allDatastores,
  getDatastore,
  observeDatastore,
  recordDatastore,
  type DatastoreRow,
} from '#server/datastores/store.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { schedule } from '#server/options/schedule.ts'
import type { Task } from '../work/driver.ts'
import type { ContainerState } from '../engine/index.ts'
import { Background } from '../work/background.ts'
import { CrashHistory } from '../work/crashes.ts'
import { noteInService } from '../logs/notes.ts'
import { passEnded } from '../work/settled.ts'
import type { World } from '../world.ts'
import { BackupCopies } from './backup-copies.ts'
import { BackupSchedule } from './backup-schedule.ts'
import { Backups } from './backups.ts'
import { isInMode } from './container.ts'
import { reasonOfEnd } from './exits.ts'
import { becomeUnavailable, DatastoreHealth } from './health.ts'
import { leftovers } from './leftovers.ts'
import { applyLimits } from './limits.ts'
import { removeDatastore } from './remove.ts'
import { RestoresAndUpgrades } from './restores-and-upgrades.ts'
import { startDatastore } from './start.ts'
import { stopDatastore } from './stop.ts'
import { endWait, isAwaited, isEmpty } from './waiting.ts'

const log = logger('datastores')

/** After this many exits before its first answer a datastore is `failed`, though it is still restarted. */
const MAX_EXITS = 3

/** A wait before failed work is tried again. */
interface Pause {
  /** The generation of the desired state when it began. */
  generation: number
  end: () => void
}

/** Keeps the container of every datastore as it should be, and removes deleted datastores. */
export class DatastoreKeeper {
  readonly #world: World
  readonly #health = new DatastoreHealth()
  readonly #backups: Backups
  readonly #copies = new BackupCopies()
  readonly #schedule = new BackupSchedule()
  readonly #restoresAndUpgrades: RestoresAndUpgrades
  /** Datastores whose container a restore or upgrade is changing now. */
  readonly #held = new Set<string>()
  readonly #passes = new Background()
  readonly #removals = new Background()
  readonly #failures = new CrashHistory()
  readonly #pauses = new Map<string, Pause>()
  readonly #dirty = new Set<string>()
  readonly #stopListening: () => void
  #lastSweep = -Infinity
  #wake: () => void = () => {}
  #sweep: () => void = () => {}

  constructor(world: World) {
    this.#world = world
    this.#backups = new Backups(world)
    this.#restoresAndUpgrades = new RestoresAndUpgrades(world, {
      hold: (id) => this.#hold(id),
      release: (id) => this.#release(id),
    })
    this.#stopListening = onChange(({ kind, id }) => {
      if (kind === 'datastore') this.look(id)
    })
  }

  /** Continues what the last run of the server left. */
  recover(hasCrashed: boolean): void {
    this.#backups.recover()
    this.#restoresAndUpgrades.recover(hasCrashed)
  }

  /** The tasks that keep datastores; `wake` runs one of them by its name. */
  tasks(wake: (name: string) => void): Task[] {
    const sweep = leftovers(
      this.#world,
      (name) => this.#backups.isUnderWay(name) || this.#restoresAndUpgrades.isUnderWay(name),
    )
    this.#wake = () => wake('datastores')
    this.#sweep = () => wake(sweep.name)
    return [
      { name: 'datastores', everyMs: schedule.sweepEveryMs, run: () => Promise.resolve(this.#run()) },
      this.#health.task(),
      this.#backups.task(() => wake('backups')),
      this.#copies.task(() => wake('copies of backups')),
      this.#schedule.task(() => wake('backup schedule')),
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
    // Datastores that failed because the engine was away need no back-off.
    for (const [id, pause] of this.#pauses) this.#cutShort(id, pause)
    this.#wake()
    this.#backups.look()
    this.#restoresAndUpgrades.look()
    this.#sweep()
  }

  /** Stops the work; the next start finds and finishes what is half done. */
  stop(): void {
    this.#stopListening()
    this.#passes.stop()
    this.#removals.stop()
    this.#health.stop()
    this.#backups.stop()
    this.#copies.stop()
    this.#restoresAndUpgrades.stop()
    this.#schedule.stop()
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
      if (row) this.#endPause(row)
      if (row?.status === 'deleting') this.#beginRemoval(id)
      else if (this.#passes.has(id) || this.#held.has(id)) continue
      else if (row) this.#beginPass(id)
      this.#dirty.delete(id)
    }
  }

  /** Reports to waiting requests that the engine does not answer; does nothing until it has been asked. */
  #reportEngineFault(reason: string | null): void {
    if (reason === null) return
    for (const { id } of allDatastores()) this.#fail(id, reason)
  }

  #beginPass(id: string): void {
    this.#passes.start({
      key: id,
      pauseMs: 0,
      run: (signal) => this.#pass(id, signal),
      onFailure: (error) => {
        this.#failures.record(id)
        this.#fail(id, messageOf(error))
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
    await this.#pause(id, signal)
    const row = getDatastore(id)
    if (!row || row.status === 'deleting') return
    if (isEmpty(row)) return observe(row, null)
    const isAtHome = found?.networks.some(({ address }) => address === row.address) === true
    const isUp = isRunning && isAtHome && isInMode(row, found)
    if (isRunning && !isAtHome) noteInService(id, id, 'its container lost its address; restarting it')
    if (isRunning && !isUp) await stopDatastore(this.#world, row)
    if (!isUp) await startDatastore(this.#world, row, signal)
    else if (row.observed_generation !== row.generation || row.apply_error !== null) {
      await applyLimits(this.#world.engine, row)
    }
    observe(row, null)
    if (!isUp) announceDatastore(id)
    if (isAwaited(row)) this.#health.expect(id, (reason) => this.#fail(id, reason))
  }

  /** Returns its container. An engine that is away fails at once, so this tries once more after a pause. */
  async #find(id: string, signal: AbortSignal): Promise<ContainerState | null> {
    const { containers } = this.#world.engine
    try {
      return await containers.inspect(id)
    } catch (error) {
      this.#fail(id, messageOf(error))
      await this.#pause(id, signal)
      return await containers.inspect(id)
    }
  }

  /** Waits before failed work is tried again; ends early if the desired state changes. */
  async #pause(id: string, signal: AbortSignal): Promise<void> {
    const wait = new AbortController()
    this.#pauses.set(id, { generation: getDatastore(id)?.generation ?? 0, end: () => wait.abort() })
    try {
      const either = AbortSignal.any([signal, wait.signal])
      await delay(this.#failures.backOffMs(id), undefined, { signal: either })
    } catch (error) {
      if (!wait.signal.aborted) throw error
    } finally {
      this.#pauses.delete(id)
    }
  }

  #endPause({ id, generation }: DatastoreRow): void {
    const pause = this.#pauses.get(id)
    if (pause && pause.generation !== generation) this.#cutShort(id, pause)
  }

  #cutShort(id: string, pause: Pause): void {
    this.#failures.forget(id)
    pause.end()
  }

  async #recordEnd(id: string, container: ContainerState): Promise<void> {
    await this.#health.forget(id)
    this.#failures.record(id)
    const reason = await reasonOfEnd(this.#world.engine, container)
    becomeUnavailable(id, reason)
    // Its last lines are in the log already.
    noteInService(id, id, `${reason.split('\n', 1)[0]}; restarting it`)
    if (this.#failures.count(id) >= MAX_EXITS) this.#fail(id, reason)
  }

  /**
   * Records why a pass failed. A datastore that was never available becomes `failed`; for others the health check finds out
   * whether they still answer.
   */
  #fail(id: string, reason: string): void {
    const row = getDatastore(id)
    if (!row) return
    const isNew = row.apply_error !== reason
    const failed = endWait(row, reason)
    const isDown = row.status === 'failed' || row.status === 'unavailable'
    const isNews = isDown && !isEmpty(row) && row.error !== reason
    if (isNews) recordDatastore(id, { error: reason })
    observe(row, reason)
    if (isNew)
      log.warn('a datastore could not be brought into its desired state', { datastore: id, error: reason })
    if (failed || isNews) announceDatastore(id)
  }

  #beginRemoval(id: string): void {
    this.#removals.start({
      key: id,
      pauseMs: this.#failures.backOffMs(id),
      run: async () => {
        await Promise.all([this.#passes.cancel(id), this.#restoresAndUpgrades.cancel(id)])
        await Promise.all([this.#health.forget(id), this.#backups.cancel(id), this.#copies.cancel(id)])
        await removeDatastore(this.#world, getDatastore(id)!)
        this.#failures.forget(id)
        announceDatastore(id, 'deleted')
        passEnded(id)
      },
      onFailure: (error) => {
        this.#failures.record(id)
        this.#fail(id, messageOf(error))
      },
      onEnd: () => {
        if (getDatastore(id)) this.look(id)
      },
    })
  }
}

function observe(row: DatastoreRow, error: string | null): void {
  observeDatastore(row.id, row.generation, error)
  passEnded(row.id)
}

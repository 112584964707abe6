import { setTimeout as delay } from 'node:timers/promises'
import { announceDatastore } from '#server/changes.ts'
import { useDatabase } from '#server/context.ts'
import { datastoreMachine } from '#server/datastores/states.ts'
import { allDatastores, getDatastore } from '#server/datastores/store.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { lostNodeFault } from '#server/nodes/lost.ts'
import { schedule } from '#server/options/schedule.ts'
import { tryMove } from '#server/state-machine.ts'
import { Background } from '../work/background.ts'
import type { Task } from '../work/driver.ts'
import { forEachLimited } from '../work/each.ts'
import { DiskWatch } from './disk-watch.ts'
import { probeDatastore } from './probe.ts'
import { isAwaited } from './waiting.ts'

const log = logger('datastores')

const PARALLEL = 8
/** A single failed probe may be a fault of the probe itself. */
const MISSES = 2
/** A program that was just started is probed this often. */
const START_PERIOD_MS = 100
/** After a crash a database replays its log before it answers. */
const START_LIMIT_MS = 5 * 60_000

/** Probes every datastore periodically, from outside its container, as a client would. */
export class DatastoreHealth {
  readonly #misses = new Map<string, number>()
  readonly #starting = new Background()
  readonly #disks = new DiskWatch()

  task(): Task {
    return {
      name: 'datastore health',
      everyMs: schedule.datastoreProbeEveryMs,
      run: (signal) =>
        forEachLimited(
          allDatastores().filter(({ status }) => status === 'available' || status === 'unavailable'),
          PARALLEL,
          async ({ id }) => {
            if (signal.aborted) return
            await this.#look(id)
            await this.#disks.look(id)
          },
        ),
    }
  }

  /** Probes a program that was just started until it answers; calls `onLate` if it did not within five minutes. */
  expect(id: string, onLate: (reason: string) => void): void {
    this.#starting.start({
      key: id,
      pauseMs: 0,
      run: (signal) => this.#awaitAnswer(id, signal),
      onFailure: (error) => onLate(messageOf(error)),
      onEnd: () => {},
    })
  }

  /** Stops probing a program that ended or is being removed. */
  async forget(id: string): Promise<void> {
    this.#misses.delete(id)
    this.#disks.forget(id)
    await this.#starting.cancel(id)
  }

  stop(): void {
    this.#starting.stop()
  }

  async #awaitAnswer(id: string, signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + START_LIMIT_MS
    for (let row = getDatastore(id); row; row = getDatastore(id)) {
      signal.throwIfAborted()
      try {
        await probeDatastore(row)
        this.#answered(id)
        return await this.#disks.look(id)
      } catch (error) {
        if (performance.now() > deadline)
          throw new Error(`it did not answer within 5 minutes: ${messageOf(error)}`, { cause: error })
      }
      await delay(START_PERIOD_MS, undefined, { signal })
    }
  }

  async #look(id: string): Promise<void> {
    const row = getDatastore(id)
    if (!row) return
    const lost = lostNodeFault(row.node_id)
    if (lost !== null) return becomeUnavailable(id, lost)
    try {
      await probeDatastore(row)
      this.#answered(id)
    } catch (error) {
      const misses = (this.#misses.get(id) ?? 0) + 1
      this.#misses.set(id, misses)
      if (misses >= MISSES) becomeUnavailable(id, `it does not answer: ${messageOf(error)}`)
    }
  }

  #answered(id: string): void {
    this.#misses.delete(id)
    const moved = useDatabase().transaction(() => {
      const row = getDatastore(id)
      if (!row || !isAwaited(row)) return false
      // A datastore that failed answers after all.
      if (row.status === 'failed') tryMove(datastoreMachine, id, 'creating')
      // Keep the reason why it was not restored or upgraded.
      const wasReplaced = row.status === 'restoring' || row.status === 'upgrading'
      return tryMove(datastoreMachine, id, 'available', { error: wasReplaced ? row.error : null })
    })
    if (!moved) return
    log.info('a datastore is available', { datastore: id })
    announceDatastore(id)
  }
}

/** Records that a datastore is no longer available, and why. */
export function becomeUnavailable(id: string, reason: string): void {
  if (getDatastore(id)?.status !== 'available') return
  if (!tryMove(datastoreMachine, id, 'unavailable', { error: reason })) return
  log.warn('a datastore is unavailable', { datastore: id, reason })
  announceDatastore(id)
}

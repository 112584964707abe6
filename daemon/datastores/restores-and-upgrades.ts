import { setTimeout as delay } from 'node:timers/promises'
import { getBackup } from '#server/backups/store.ts'
import { onChange } from '#server/changes.ts'
import {
  allRestoresAndUpgrades,
  getRestoreOrUpgrade,
  takeBackTries,
  type RestoreOrUpgrade,
} from '#server/datastores/restores-and-upgrades-store.ts'
import {
  beginTry,
  finishRestoreOrUpgrade,
  forbidWrites,
  giveUpRestoreOrUpgrade,
} from '#server/datastores/restores-and-upgrades.ts'
import { getDatastore, type DatastoreRow } from '#server/datastores/store.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { runningMove } from '#server/moves/store.ts'
import { acrossDepartures, limitedTry } from '../backups/tries.ts'
import { MoveCanceled, whileMoving } from '../moves/while-moving.ts'
import { Background } from '../work/background.ts'
import type { Task } from '../work/driver.ts'
import type { World } from '../world.ts'
import { provideBackup } from './backup-check.ts'
import { isInMode } from './container.ts'
import { copyToNode } from './copy-to-node.ts'
import { fillVolume } from './fill.ts'
import { imageOf, pullImage } from './image.ts'
import { firstUndumped, furtherDatabases, probeDatastore } from './probe.ts'
import { stopDatastore } from './stop.ts'
import { backUpForUpgrade } from './upgrade-backup.ts'
import { assertUnwritten } from './written-meanwhile.ts'

const log = logger('datastores')

const PERIOD_MS = 60_000
/** An error is a message for people, not a log. */
const MAX_ERROR_CHARACTERS = 4 * 1024
/** Interval between two probes of a program that is restarting. */
const ANSWER_PERIOD_MS = 100
const ANSWER_WITHIN_MS = 5 * 60_000

/** Stops the keeper from touching a datastore's container while it is replaced. */
export interface Keeping {
  hold(id: string): Promise<void>
  release(id: string): void
}

/**
 * Restores and upgrades: fills a new volume while the datastore keeps serving, and replaces the old volume when that has
 * succeeded; moves to another node, too. After a stop of the server or of the engine it starts over; a half-filled volume is
 * discarded.
 */
export class RestoresAndUpgrades {
  readonly #world: World
  readonly #keeping: Keeping
  readonly #work = new Background()
  readonly #stopListening: () => void
  #wake: () => void = () => {}

  constructor(world: World, keeping: Keeping) {
    this.#world = world
    this.#keeping = keeping
    this.#stopListening = onChange(({ kind }) => {
      if (kind === 'datastore') this.look()
    })
  }

  /** Continues what the last run of the server left. If the server did not crash, that try does not count. */
  recover(hasCrashed: boolean): void {
    if (!hasCrashed) takeBackTries()
  }

  /** Returns the task for a driver; `wake` requests its next run. */
  task(wake: () => void): Task {
    this.#wake = wake
    return {
      name: 'restores-and-upgrades',
      everyMs: PERIOD_MS,
      run: async () => {
        if (this.#world.reachByAddress === null) return
        for (const { datastore_id } of allRestoresAndUpgrades()) this.#begin(datastore_id)
        await Promise.resolve()
      },
    }
  }

  /** Requests a pass soon, for example after the engine came back. */
  look(): void {
    this.#wake()
  }

  /** Whether a container of this name belongs to a restore or upgrade in progress. */
  isUnderWay(name: string): boolean {
    return allRestoresAndUpgrades().some(
      ({ datastore_id, volume }) => this.#work.has(datastore_id) && name.startsWith(volume),
    )
  }

  /** Cancels the replacement of a datastore that is being deleted, and waits until it has ended. */
  async cancel(id: string): Promise<void> {
    await this.#work.cancel(id)
  }

  stop(): void {
    this.#stopListening()
    this.#work.stop()
  }

  #begin(id: string): void {
    const row = getDatastore(id)
    if (this.#work.has(id) || (row?.status !== 'restoring' && row?.status !== 'upgrading')) return
    this.#work.start({
      key: id,
      pauseMs: 0,
      run: (signal) => this.#run(id, signal),
      onFailure: (error) => {
        if (error instanceof MoveCanceled) return
        const isMove = runningMove(id) !== undefined
        const filling = getRestoreOrUpgrade(id)
        const reason = messageOf(error).slice(0, MAX_ERROR_CHARACTERS)
        if (filling)
          giveUpRestoreOrUpgrade(
            filling,
            `it was not ${isMove ? 'moved' : row.status === 'upgrading' ? 'upgraded' : 'restored'}: ${reason}`,
          )
        log.warn('the data of a datastore was not replaced', { datastore: id, error: reason })
      },
      onEnd: () => {
        // Only after the result is recorded, or the container would be started in the mode of an upgrade, then again.
        this.#keeping.release(id)
        this.#wake()
      },
    })
  }

  /** Starts over when the engine is back, if it went away in between. */
  #run(id: string, stop: AbortSignal): Promise<void> {
    const attempt = (): Promise<void> => {
      const filling = beginTry(getRestoreOrUpgrade(id)!)
      return limitedTry(filling.tries, stop, (signal) => this.#replaceOrMove(filling, signal))
    }
    return acrossDepartures(this.#world, nodesOf(getDatastore(id)!), stop, attempt, (error) => {
      this.#keeping.release(id)
      const fields = { datastore: id, error: messageOf(error) }
      log.warn('the engine went away while the data of a datastore was being replaced; starting over', fields)
    })
  }

  async #replaceOrMove(filling: RestoreOrUpgrade, signal: AbortSignal): Promise<void> {
    const { datastore_id: id } = filling
    const row = getDatastore(id)!
    const move = runningMove(id)
    if (!move) return this.#replace(row, filling, signal)
    await whileMoving(id, signal, async (either) => {
      if (move.from_backup) return this.#replace({ ...row, node_id: move.to_node_id }, filling, either)
      const hold = () => this.#keeping.hold(id)
      await copyToNode(this.#world, row, { ...filling, nodeId: move.to_node_id }, hold, either)
    })
  }

  /** Fills the new volume on the node that `row` names, and puts it in the place of the old one. */
  async #replace(row: DatastoreRow, filling: RestoreOrUpgrade, signal: AbortSignal): Promise<void> {
    const { id } = row
    const isLost = getDatastore(id)!.node_id !== row.node_id
    const { kind, volume, version } = filling
    // Find missing images and damaged files before anything changes.
    const imageId =
      kind === 'upgrade'
        ? await pullImage(this.#world.engineOf(row.node_id), `${row.repository}:${version}`, signal)
        : await imageOf(this.#world, row, signal)
    // A datastore that does not answer cannot be asked; a restore brings it back.
    const answers = kind !== 'first' && !isLost && (await isAnswering(row))
    if (answers) assertWholeInDump(await furtherDatabases(row))
    const since = kind === 'upgrade' ? await this.#endWrites(row, signal) : null
    const made = getBackup(filling.backup_id ?? '')
    const backup = kind === 'upgrade' ? await backUpForUpgrade(row, made, signal) : made
    if (!backup) throw new AppError('runtime_error', 'the backup was deleted')
    await provideBackup(row.kind, backup, signal)
    const carriesRoles = answers || kind === 'upgrade'
    await fillVolume(this.#world, row, { volume, imageId, backupId: backup.id, carriesRoles }, signal)
    await this.#keeping.hold(id)
    signal.throwIfAborted()
    if (!isLost) await stopDatastore(this.#world, row)
    signal.throwIfAborted()
    if (since !== null) await assertUnwritten(this.#world, row, { since, name: `${volume}-look` }, signal)
    finishRestoreOrUpgrade(getDatastore(id)!, filling, imageId)
    if (kind !== 'first')
      log.info('the data of a datastore was replaced; its former volume is kept for a day', {
        datastore: id,
        kept: row.volume,
        used: volume,
      })
  }

  /** Makes a datastore refuse writes. Returns the transaction number by which later writes are detected, if it has one. */
  async #endWrites({ id, kind }: DatastoreRow, signal: AbortSignal): Promise<bigint | null> {
    forbidWrites(id)
    await this.#untilReadOnly(id, signal)
    if (kind !== 'relational') return null
    const row = getDatastore(id)!
    // Checked again, because it may not have answered before.
    assertWholeInDump(await furtherDatabases(row))
    return await firstUndumped(row)
  }

  /** Waits until the keeper has restarted its container in the mode that an upgrade asks for. */
  async #untilReadOnly(id: string, signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + ANSWER_WITHIN_MS
    for (;;) {
      signal.throwIfAborted()
      const row = getDatastore(id)!
      try {
        const found = await this.#world.engineOf(row.node_id).containers.inspect(id)
        if (found?.running && isInMode(row, found)) return await probeDatastore(row)
      } catch (error) {
        if (performance.now() > deadline) throw error
      }
      if (performance.now() > deadline)
        throw new AppError('runtime_error', 'it did not stop taking writes within 5 minutes')
      await delay(ANSWER_PERIOD_MS, undefined, { signal })
    }
  }
}

/** The nodes whose engines a restore, an upgrade or a move needs. */
function nodesOf({ id, node_id }: DatastoreRow): string[] {
  const move = runningMove(id)
  if (!move) return [node_id]
  return move.from_backup ? [move.to_node_id] : [node_id, move.to_node_id]
}

function isAnswering(row: DatastoreRow): Promise<boolean> {
  return probeDatastore(row).then(
    () => true,
    () => false,
  )
}

/** Throws if there are other databases, which the dump would leave out. */
function assertWholeInDump(further: string[]): void {
  if (further.length === 0) return
  throw new AppError(
    'runtime_error',
    `it also holds ${further.map((name) => `database ${name}`).join(', ')}, which would be lost: move what you need to a datastore of its own (pg_dump, pg_restore), drop it here, and try again`,
  )
}

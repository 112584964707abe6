import { removeStrayBackupFiles } from '#server/backups/files.ts'
import { failBackup, recordBackupFile, removeSurplusBackups } from '#server/backups/operations.ts'
import { getBackup, runningBackup, runningBackups, type BackupRow } from '#server/backups/store.ts'
import { onChange } from '#server/changes.ts'
import { getDatastore } from '#server/datastores/store.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { hasLeftSince } from '../engine-absence.ts'
import { isEngineAway } from '../engine/index.ts'
import { Background } from '../work/background.ts'
import type { Task } from '../work/driver.ts'
import type { World } from '../world.ts'
import { makeBackup } from './backup.ts'

const log = logger('backups')

/** Interval of a pass without a change event, which removes backups beyond those that are kept. */
const PERIOD_MS = 60_000
/** More backups at a time would only share the disk; the others wait. */
const PARALLEL = 2
/** A dump that takes longer is assumed to hang. */
const LONGEST_MS = 12 * 3_600_000
/** An error is a message for people, not a log. */
const MAX_ERROR_CHARACTERS = 4 * 1024

/** Makes the backups that were requested, and removes those beyond retention. */
export class Backups {
  readonly #world: World
  readonly #work = new Background()
  readonly #stopListening: () => void
  #wake: () => void = () => {}
  #count = 0

  constructor(world: World) {
    this.#world = world
    this.#stopListening = onChange(({ kind }) => {
      if (kind === 'datastore') this.look()
    })
  }

  /** Fails the backups that the last run of the server left in progress; their files are removed in the first pass. */
  recover(): void {
    for (const backup of runningBackups())
      if (backup.sha256 === null)
        failBackup(backup, 'the server stopped while the backup was being made: make another one')
  }

  /** Returns the task for a driver; `wake` requests its next run. */
  task(wake: () => void): Task {
    this.#wake = wake
    return {
      name: 'backups',
      everyMs: PERIOD_MS,
      run: async () => {
        for (const backup of runningBackups()) if (backup.sha256 === null) this.#begin(backup)
        await removeSurplusBackups()
        await removeStrayBackupFiles()
      },
    }
  }

  /** Requests a pass soon, for example after the engine came back. */
  look(): void {
    this.#wake()
  }

  /** Whether a container of this name belongs to a backup in progress. */
  isUnderWay(name: string): boolean {
    return this.#work.has(name)
  }

  /** Cancels the backup of a datastore that is being deleted, and waits until it has ended. */
  async cancel(datastoreId: string): Promise<void> {
    const backup = runningBackup(datastoreId)
    if (!backup) return
    // First, or the next pass would start it again.
    failBackup(backup, 'the datastore was deleted')
    await this.#work.cancel(backup.id)
  }

  stop(): void {
    this.#stopListening()
    this.#work.stop()
  }

  #begin(backup: BackupRow): void {
    const { id } = backup
    if (this.#work.has(id) || this.#count >= PARALLEL || this.#world.reachByAddress === null) return
    this.#count++
    this.#work.start({
      key: id,
      pauseMs: 0,
      run: (signal) => this.#make(backup, signal),
      onFailure: (error) => {
        const reason = messageOf(error).slice(0, MAX_ERROR_CHARACTERS)
        failBackup(backup, reason)
        log.warn('a backup failed', { backup: id, datastore: backup.datastore_id, error: reason })
      },
      onEnd: () => {
        this.#count--
        this.#wake()
      },
    })
  }

  async #make(backup: BackupRow, signal: AbortSignal): Promise<void> {
    const datastore = getDatastore(backup.datastore_id)
    const now = getBackup(backup.id)
    if (!datastore || now?.status !== 'running' || now.sha256 !== null) return
    const late = AbortSignal.timeout(LONGEST_MS)
    const departures = this.#world.engineDepartures
    const file = await makeBackup(this.#world, datastore, backup, AbortSignal.any([signal, late])).catch(
      async (error: unknown) => {
        signal.throwIfAborted()
        if (late.aborted) throw new Error(`it did not finish within ${LONGEST_MS / 3_600_000} hours`)
        if (isEngineAway(error) || !(await hasLeftSince(this.#world, departures, signal))) throw error
        const what = 'the container engine was stopped or restarted during the backup, make another one'
        throw new Error(`${what}: ${messageOf(error)}`, { cause: error })
      },
    )
    recordBackupFile(backup, file)
    log.info('a backup was made', {
      backup: backup.id,
      datastore: datastore.id,
      bytes: file.size_bytes,
    })
  }
}

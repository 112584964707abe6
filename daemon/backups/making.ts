import {
  keepBackupPart,
  removeBackupFiles,
  removeStrayBackupFiles,
  writeBackupPart,
} from '#server/backups/files.ts'
import type { Written } from '#server/backups/part-file.ts'
import { failBackup, recordBackupFile, removeSurplusBackups } from '#server/backups/operations.ts'
import { onBackupChange, type OwnerKind } from '#server/backups/owners.ts'
import { getBackup, runningBackups, runningBackupsOf, type BackupRow } from '#server/backups/store.ts'
import { getDatastore } from '#server/datastores/store.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { ownNodeId } from '#server/nodes/store.ts'
import { getService } from '#server/services/store.ts'
import { departuresOf, hasLeftSince } from '../engine-absence.ts'
import { isEngineAway } from '../engine/index.ts'
import { Background } from '../work/background.ts'
import type { Task } from '../work/driver.ts'
import type { World } from '../world.ts'

const log = logger('backups')

/** Interval of a pass without a change event, which removes backups beyond those that are kept. */
const PERIOD_MS = 60_000
/** More backups at a time would only share the disk; the others wait. */
const PARALLEL = 2
/** A dump that takes longer is assumed to hang. */
const LONGEST_MS = 12 * 3_600_000
/** An error is a message for people, not a log. */
const MAX_ERROR_CHARACTERS = 4 * 1024

/**
 * Reads everything that a datastore or a disk holds, and has `write` put it into the file of a backup, again after a try that
 * failed. Throws `runtime_error` or `io_error` with the reason, or the signal's.
 */
export type Dump = (
  world: World,
  backup: BackupRow,
  write: (chunks: AsyncIterable<Buffer>) => Promise<void>,
  signal: AbortSignal,
) => Promise<void>

/** Makes the backups that were requested, and removes those beyond retention. */
export class Backups {
  readonly #world: World
  readonly #dumps: Record<OwnerKind, Dump>
  readonly #work = new Background()
  readonly #stopListening: () => void
  #wake: () => void = () => {}
  #count = 0

  constructor(world: World, dumps: Record<OwnerKind, Dump>) {
    this.#world = world
    this.#dumps = dumps
    this.#stopListening = onBackupChange(() => this.look())
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

  /** Cancels the backups of a datastore or of the disks of a service that is being deleted, and waits until they have ended. */
  async cancel(ownerId: string): Promise<void> {
    const backups = runningBackupsOf(ownerId)
    // First, or the next pass would start them again.
    for (const backup of backups)
      failBackup(backup, `the ${kindOf(backup) === 'disk' ? 'service' : 'datastore'} was deleted`)
    await Promise.all(backups.map(({ id }) => this.#work.cancel(id)))
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
        log.warn('a backup failed', { backup: id, of: backup.owner_id, error: reason })
      },
      onEnd: () => {
        this.#count--
        this.#wake()
      },
    })
  }

  async #make(backup: BackupRow, signal: AbortSignal): Promise<void> {
    const now = getBackup(backup.id)
    if (now?.status !== 'running' || now.sha256 !== null) return
    const late = AbortSignal.timeout(LONGEST_MS)
    const nodeId = nodeOf(backup)
    const departures = departuresOf(this.#world, nodeId)
    const file = await this.#writeFile(backup, AbortSignal.any([signal, late])).catch(
      async (error: unknown) => {
        signal.throwIfAborted()
        if (late.aborted) throw new Error(`it did not finish within ${LONGEST_MS / 3_600_000} hours`)
        if (isEngineAway(error) || !(await hasLeftSince(this.#world, departures, signal, nodeId))) throw error
        const what = 'the container engine was stopped or restarted during the backup, make another one'
        throw new Error(`${what}: ${messageOf(error)}`, { cause: error })
      },
    )
    recordBackupFile(backup, file)
    log.info('a backup was made', { backup: backup.id, of: backup.owner_id, bytes: file.size_bytes })
  }

  /** Leaves nothing behind when it fails. */
  async #writeFile(backup: BackupRow, signal: AbortSignal): Promise<Written> {
    const { id } = backup
    try {
      let file: Written | undefined
      const write = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
        file = await writeBackupPart(id, chunks)
      }
      await this.#dumps[kindOf(backup)](this.#world, backup, write, signal)
      await keepBackupPart(id)
      return file!
    } catch (error) {
      await removeBackupFiles(id)
      throw error
    }
  }
}

/** The node of what a backup is of. */
function nodeOf({ datastore_id, service_id }: BackupRow): string {
  const row = datastore_id === null ? getService(service_id!) : getDatastore(datastore_id)
  return row?.node_id ?? ownNodeId()
}

function kindOf({ datastore_id }: BackupRow): OwnerKind {
  return datastore_id === null ? 'disk' : 'datastore'
}

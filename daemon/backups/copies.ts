import { useBucket, type Bucket } from '#server/backups/bucket.ts'
import { backupPath, hasBackupFile, withSealedFile } from '#server/backups/files.ts'
import { onBackupChange } from '#server/backups/owners.ts'
import { copyUrlOf, recordCopy, recordCopyFault, settleBackup } from '#server/backups/operations.ts'
import {
  forgetSpareObject,
  getBackup,
  insertSpareObject,
  isSpareObject,
  listBackups,
  runningBackups,
  spareObjects,
  uncopiedBackups,
  type BackupRow,
} from '#server/backups/store.ts'
import { useContext } from '#server/context.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import type { Task } from '../work/driver.ts'
import { Copying, TRIED_AGAIN } from './copying.ts'

const log = logger('backups')

/** Interval of a pass without a change event, which retries what failed. */
const PERIOD_MS = 60_000
/** More copies at a time would only share the uplink. */
const PARALLEL = 2
const FILE_GONE = 'its file is gone from the data directory'
/** Key of the removals, which are one piece of work. */
const REMOVALS = 'removals'

/** Copies every backup to the bucket, and removes copies there that belong to no backup. */
export class BackupCopies {
  readonly #copying = new Copying(PARALLEL, () => this.#wake())
  readonly #removing = new Copying(1, () => this.#wake())
  readonly #stopListening: () => void
  #wake: () => void = () => {}

  constructor() {
    this.#stopListening = onBackupChange(() => this.#wake())
  }

  /** Returns the task for a driver; `wake` requests its next run. */
  task(wake: () => void): Task {
    this.#wake = wake
    return { name: 'copies of backups', everyMs: PERIOD_MS, run: () => this.#look() }
  }

  /** Cancels the copies of a datastore or a disk that is being deleted, and waits until they have ended. */
  async cancel(ownerId: string): Promise<void> {
    await Promise.all(listBackups(ownerId).map(({ id }) => this.#copying.cancel(id)))
  }

  stop(): void {
    this.#stopListening()
    this.#copying.stop()
    this.#removing.stop()
  }

  async #look(): Promise<void> {
    const bucket = useBucket()
    if (bucket === null) {
      for (const backup of runningBackups()) if (backup.sha256 !== null) settleBackup(backup)
      return
    }
    for (const id of this.#copying.keys) if (!getBackup(id)) await this.#copying.cancel(id)
    const waiting = uncopiedBackups()
    for (const backup of waiting) this.#beginCopy(bucket, backup)
    const kept = new Set(waiting.map((backup) => copyUrlOf(bucket, backup)))
    const spares = spareObjects().filter((url) => bucket.holds(url) && !kept.has(url))
    if (spares.length > 0) this.#beginRemovals(bucket, spares)
  }

  #beginCopy(bucket: Bucket, backup: BackupRow): void {
    const { id } = backup
    if (!this.#copying.isFree(id)) return
    if (!hasBackupFile(id)) {
      if (backup.error !== FILE_GONE) recordCopyFault(backup, FILE_GONE)
      return
    }
    const url = copyUrlOf(bucket, backup)
    this.#copying.begin({
      key: id,
      run: (signal) => copy(bucket, backup, url, signal),
      onFailure: (error) => {
        const reason = messageOf(error)
        recordCopyFault(backup, `it was not copied, ${TRIED_AGAIN}: ${reason}`)
        log.warn('a backup was not copied', { backup: id, of: backup.owner_id, error: reason })
      },
    })
  }

  #beginRemovals(bucket: Bucket, urls: string[]): void {
    this.#removing.begin({
      key: REMOVALS,
      run: async (signal) => {
        for (const url of urls) {
          await bucket.remove(url, signal)
          forgetSpareObject(url)
        }
      },
      onFailure: (error) => {
        const fields = { objects: urls.length, error: messageOf(error) }
        log.warn('copies of backups cannot be removed from the bucket yet', fields)
      },
    })
  }
}

/** Writes a copy, which is recorded first, so that what a killed server leaves of it is found. */
async function copy(bucket: Bucket, backup: BackupRow, url: string, signal: AbortSignal): Promise<void> {
  const { id, size_bytes: size, sha256 } = backup
  if (isSpareObject(url)) await bucket.remove(url, signal)
  insertSpareObject(url)
  const { backupPassphrase } = useContext().options
  if (backupPassphrase === null)
    await bucket.put(url, { path: backupPath(id), size: size!, sha256: sha256! }, signal)
  else await withSealedFile(id, backupPassphrase, signal, (file) => bucket.put(url, file, signal))
  recordCopy(backup, url)
  log.info('a backup was copied to the bucket', { backup: id, of: backup.owner_id, url })
}

import { useBucket, type Bucket } from '#server/backups/bucket.ts'
import { backupPath, hasBackupFile } from '#server/backups/files.ts'
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
import { onChange } from '#server/changes.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { Background } from '../work/background.ts'
import type { Task } from '../work/driver.ts'

const log = logger('backups')

/** Interval of a pass without a change event, which retries what failed. */
const PERIOD_MS = 60_000
/** More copies at a time would only share the uplink. */
const PARALLEL = 2
/** A copy that takes longer is assumed to hang. */
const LONGEST_MS = 12 * 3_600_000
/** Pause before a failed request to the bucket is tried again. */
const RETRY_PAUSE_MS = 15 * 60_000
const FILE_GONE = 'its file is gone from the data directory'
/** Key of the removals, which are one piece of work. */
const REMOVALS = 'removals'

/** Copies every backup to the bucket, and removes copies there that belong to no backup. */
export class BackupCopies {
  readonly #work = new Background()
  readonly #stopListening: () => void
  /** The URL that each copy in progress is written to. */
  readonly #targets = new Map<string, string>()
  /** When failed work is tried again, on the monotonic clock. */
  readonly #pausedUntil = new Map<string, number>()
  #wake: () => void = () => {}

  constructor() {
    this.#stopListening = onChange(({ kind }) => {
      if (kind === 'datastore') this.#wake()
    })
  }

  /** Returns the task for a driver; `wake` requests its next run. */
  task(wake: () => void): Task {
    this.#wake = wake
    return { name: 'copies of backups', everyMs: PERIOD_MS, run: () => this.#look() }
  }

  /** Cancels the copies of a datastore that is being deleted, and waits until they have ended. */
  async cancel(datastoreId: string): Promise<void> {
    await Promise.all(listBackups(datastoreId).map(({ id }) => this.#work.cancel(id)))
  }

  stop(): void {
    this.#stopListening()
    this.#work.stop()
  }

  async #look(): Promise<void> {
    const bucket = useBucket()
    if (bucket === null) {
      for (const backup of runningBackups()) if (backup.sha256 !== null) settleBackup(backup)
      return
    }
    for (const id of this.#targets.keys()) if (!getBackup(id)) await this.#work.cancel(id)
    const waiting = uncopiedBackups()
    for (const backup of waiting) this.#beginCopy(bucket, backup)
    const kept = new Set(waiting.map((backup) => copyUrlOf(bucket, backup)))
    const spares = spareObjects().filter((url) => bucket.holds(url) && !kept.has(url))
    if (spares.length > 0) this.#beginRemovals(bucket, spares)
  }

  #beginCopy(bucket: Bucket, backup: BackupRow): void {
    const { id } = backup
    if (this.#targets.has(id) || this.#targets.size >= PARALLEL || this.#isPaused(id)) return
    if (!hasBackupFile(id)) {
      if (backup.error !== FILE_GONE) recordCopyFault(backup, FILE_GONE)
      return
    }
    const url = copyUrlOf(bucket, backup)
    this.#targets.set(id, url)
    this.#work.start({
      key: id,
      pauseMs: 0,
      run: (signal) => copy(bucket, backup, url, signal),
      onFailure: (error) => {
        this.#pause(id)
        const reason = messageOf(error)
        recordCopyFault(backup, `it was not copied, trying again in 15 minutes: ${reason}`)
        log.warn('a backup was not copied', { backup: id, datastore: backup.datastore_id, error: reason })
      },
      onEnd: () => {
        this.#targets.delete(id)
        this.#wake()
      },
    })
  }

  #beginRemovals(bucket: Bucket, urls: string[]): void {
    if (this.#isPaused(REMOVALS)) return
    this.#work.start({
      key: REMOVALS,
      pauseMs: 0,
      run: async (signal) => {
        for (const url of urls) {
          await bucket.remove(url, signal)
          forgetSpareObject(url)
        }
      },
      onFailure: (error) => {
        this.#pause(REMOVALS)
        const fields = { objects: urls.length, error: messageOf(error) }
        log.warn('copies of backups cannot be removed from the bucket yet', fields)
      },
      onEnd: () => this.#wake(),
    })
  }

  #isPaused(key: string): boolean {
    return performance.now() < (this.#pausedUntil.get(key) ?? -Infinity)
  }

  #pause(key: string): void {
    this.#pausedUntil.set(key, performance.now() + RETRY_PAUSE_MS)
  }
}

/** Writes a copy, which is recorded first, so that what a killed server leaves of it is found. */
async function copy(bucket: Bucket, backup: BackupRow, url: string, stop: AbortSignal): Promise<void> {
  const { id, size_bytes: size, sha256 } = backup
  const late = AbortSignal.timeout(LONGEST_MS)
  const signal = AbortSignal.any([stop, late])
  if (isSpareObject(url)) await bucket.remove(url, signal)
  insertSpareObject(url)
  await bucket.put(url, { path: backupPath(id), size: size!, sha256: sha256! }, signal)
  recordCopy(backup, url)
  log.info('a backup was copied to the bucket', { backup: id, datastore: backup.datastore_id, url })
}

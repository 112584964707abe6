import { runningBackup, type BackupRow } from '../backups/store.ts'
import { tellDatastore } from '../changes.ts'
import { useDatabase } from '../context.ts'
import { AppError } from '../errors.ts'
import { tryMove } from '../state-machine.ts'
import { majorOf } from './kinds.ts'
import { newVolume, recordNew } from './operations.ts'
import {
  countTry,
  deleteRestoreOrUpgrade,
  getRestoreOrUpgrade,
  giveUpVolume,
  insertRestoreOrUpgrade,
  insertSpareVolume,
  updateRestoreOrUpgrade,
  type NewRestoreOrUpgrade,
  type RestoreOrUpgrade,
} from './restores-and-upgrades-store.ts'
import { datastoreMachine } from './states.ts'
import { getDatastore, recordDatastore, refoundDatastore, type DatastoreRow } from './store.ts'

/** How long the data that was replaced can still be gone back to. */
const KEPT_MS = 24 * 3_600_000
/** Of a source whose version, or whose backups, may be others by the time that they are read. */
const UNSETTLED: ReadonlySet<string> = new Set(['upgrading', 'deleting', 'gone'])

/**
 * Restores a backup into a new datastore of this name, else into its own. Throws `conflict` when the backup has no file,
 * the name is in use, or the datastore is busy; a new one is made from one that is neither upgraded nor deleted.
 */
export function restoreBackup(datastore: DatastoreRow, backup: BackupRow, name?: string): DatastoreRow {
  if (backup.sha256 === null)
    throw new AppError('conflict', `the backup ${backup.id} is ${backup.status}: there is nothing to restore`)
  return name === undefined ? restoreInPlace(datastore, backup) : restoreBeside(datastore, backup, name)
}

function restoreInPlace(datastore: DatastoreRow, backup: BackupRow): DatastoreRow {
  const { id, version } = datastore
  begin(datastore, 'restoring', {
    datastore_id: id,
    kind: 'restore',
    backup_id: backup.id,
    version,
    volume: newVolume(id),
  })
  return getDatastore(id)!
}

function restoreBeside(datastore: DatastoreRow, backup: BackupRow, name: string): DatastoreRow {
  const { environment_id, kind, repository, version, database, username, image_id } = datastore
  const { memory_limit_mb, cpu_limit, backup_retention } = datastore
  const made = useDatabase().transaction(() => {
    const status = getDatastore(datastore.id)?.status ?? 'gone'
    if (UNSETTLED.has(status)) throw new AppError('conflict', `datastore ${datastore.name} is ${status}`)
    const limits = { memory_limit_mb, cpu_limit, backup_retention, backup_schedule: null }
    const image = { kind, repository, version, database, username }
    const row = recordNew({ environment_id, name, status: 'restoring', ...image, ...limits })
    recordDatastore(row.id, { image_id })
    insertRestoreOrUpgrade({
      datastore_id: row.id,
      kind: 'first',
      backup_id: backup.id,
      version,
      volume: row.volume,
    })
    return row
  })
  tellDatastore(made.id, 'created')
  return getDatastore(made.id)!
}

/** Takes a datastore to a newer major version. Throws `invalid_request` for any other, `conflict` while it is busy. */
export function upgradeDatastore(datastore: DatastoreRow, version: string): DatastoreRow {
  const [from, to] = [majorOf(datastore.version), majorOf(version)]
  if (to === null)
    throw new AppError('invalid_request', 'version: must begin with a major version, such as 18')
  if (from === null)
    throw new AppError(
      'invalid_request',
      `version: ${datastore.version}, which datastore ${datastore.name} has, does not say its major version: create a datastore of the version that you want, and copy the data into it`,
    )
  if (to <= from)
    throw new AppError(
      'invalid_request',
      `version: must be a newer major version than ${from}, which datastore ${datastore.name} has`,
    )
  const { id } = datastore
  begin(datastore, 'upgrading', {
    datastore_id: id,
    kind: 'upgrade',
    backup_id: null,
    version,
    volume: newVolume(id),
  })
  return getDatastore(id)!
}

function begin(
  { id, name }: DatastoreRow,
  to: 'restoring' | 'upgrading',
  filling: NewRestoreOrUpgrade,
): void {
  useDatabase().transaction(() => {
    const running = runningBackup(id)
    if (running) throw new AppError('conflict', `the backup ${running.id} of datastore ${name} is running`)
    const isFree = !getRestoreOrUpgrade(id)
    if (!isFree || !tryMove(datastoreMachine, id, to, { error: null, updated_at: Date.now() }))
      throw new AppError('conflict', `datastore ${name} is ${getDatastore(id)?.status ?? 'gone'}`)
    insertRestoreOrUpgrade(filling)
  })
  tellDatastore(id)
}

/** Begins a restore or upgrade again, on a volume that nothing was written to; what an earlier try filled is given up. */
export function beginTry({ datastore_id: id, volume, kind }: RestoreOrUpgrade): RestoreOrUpgrade {
  useDatabase().transaction(() => {
    const fresh = newVolume(id)
    giveUpVolume(volume, id)
    countTry(id, fresh)
    if (kind === 'first') {
      const { version, image_id } = getDatastore(id)!
      refoundDatastore(id, { volume: fresh, version, image_id })
    }
  })
  return getRestoreOrUpgrade(id)!
}

/** Has a datastore take no more writes until its restore or upgrade ends. */
export function forbidWrites(datastoreId: string): void {
  updateRestoreOrUpgrade(datastoreId, { reads_only: 1 })
  tellDatastore(datastoreId)
}

/** Puts what was filled in the place of what the datastore held, which is kept for a day. */
export function finishRestoreOrUpgrade(
  row: DatastoreRow,
  { volume, version }: RestoreOrUpgrade,
  imageId: string,
): void {
  useDatabase().transaction(() => {
    if (row.volume !== volume)
      insertSpareVolume({
        volume: row.volume,
        datastore_id: row.id,
        remove_at: Date.now() + KEPT_MS,
        version: row.version,
      })
    refoundDatastore(row.id, { volume, version, image_id: imageId })
    deleteRestoreOrUpgrade(row.id)
  })
  tellDatastore(row.id)
}

/**
 * Gives a restore or upgrade up with the reason: what the datastore held serves on. A new one holds nothing to serve and has
 * failed; its record stays, so that it never becomes an empty one.
 */
export function giveUpRestoreOrUpgrade(
  { datastore_id: id, kind, volume }: RestoreOrUpgrade,
  reason: string,
): void {
  useDatabase().transaction(() => {
    giveUpVolume(volume, id)
    recordDatastore(id, { error: reason })
    if (kind === 'first') tryMove(datastoreMachine, id, 'failed')
    else deleteRestoreOrUpgrade(id)
  })
  tellDatastore(id)
}

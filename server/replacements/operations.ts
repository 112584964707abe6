import { runningBackup, type BackupRow } from '../backups/store.ts'
import { tellDatastore } from '../changes.ts'
import { useDatabase } from '../context.ts'
import { majorOf } from '../datastores/kinds.ts'
import { newVolume, recordNew } from '../datastores/operations.ts'
import { datastoreMachine } from '../datastores/states.ts'
import { getDatastore, recordDatastore, refoundDatastore, type DatastoreRow } from '../datastores/store.ts'
import { AppError } from '../errors.ts'
import { tryMove } from '../machine.ts'
import {
  countTry,
  deleteReplacement,
  getReplacement,
  giveUpVolume,
  insertReplacement,
  insertSpareVolume,
  updateReplacement,
  type NewReplacement,
  type Replacement,
} from './store.ts'

/** How long the replaced data can still be restored. */
const KEPT_MS = 24 * 3_600_000
/** Statuses of a source whose version or backups may change before they are read. */
const UNSETTLED: ReadonlySet<string> = new Set(['upgrading', 'deleting', 'gone'])

/**
 * Restores a backup into a new datastore with this name, or into its own datastore when there is none. Throws `conflict`
 * when the backup has no file, the name is in use, or the datastore is busy. A new datastore cannot be made from one that is
 * being upgraded or deleted.
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
    insertReplacement({
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

/**
 * Upgrades a datastore to a newer major version. Throws `invalid_request` for any other version, `conflict` while it is
 * busy.
 */
export function upgradeDatastore(datastore: DatastoreRow, version: string): DatastoreRow {
  const [from, to] = [majorOf(datastore.version), majorOf(version)]
  if (to === null)
    throw new AppError('invalid_request', 'version: must begin with a major version, such as 18')
  if (from === null)
    throw new AppError(
      'invalid_request',
      `version: datastore ${datastore.name} has version ${datastore.version}, which does not say its major version: create a datastore with the version that you want, and copy the data into it`,
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

function begin({ id, name }: DatastoreRow, to: 'restoring' | 'upgrading', replacement: NewReplacement): void {
  useDatabase().transaction(() => {
    const running = runningBackup(id)
    if (running) throw new AppError('conflict', `the backup ${running.id} of datastore ${name} is running`)
    const isFree = !getReplacement(id)
    if (!isFree || !tryMove(datastoreMachine, id, to, { error: null, updated_at: Date.now() }))
      throw new AppError('conflict', `datastore ${name} is ${getDatastore(id)?.status ?? 'gone'}`)
    insertReplacement(replacement)
  })
  tellDatastore(id)
}

/** Begins a replacement once more, on a new empty volume. The volume of the earlier try is given up. */
export function beginTry({ datastore_id: id, volume, kind }: Replacement): Replacement {
  useDatabase().transaction(() => {
    const fresh = newVolume(id)
    giveUpVolume(volume, id)
    countTry(id, fresh)
    if (kind === 'first') {
      const { version, image_id } = getDatastore(id)!
      refoundDatastore(id, { volume: fresh, version, image_id })
    }
  })
  return getReplacement(id)!
}

/** Makes a datastore read-only until its replacement ends. */
export function forbidWrites(datastoreId: string): void {
  updateReplacement(datastoreId, { reads_only: 1 })
  tellDatastore(datastoreId)
}

/** Replaces the data of a datastore with the new data. The old data is kept for a day. */
export function finishReplacement(
  row: DatastoreRow,
  { volume, version }: Replacement,
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
    deleteReplacement(row.id)
  })
  tellDatastore(row.id)
}

/**
 * Gives up a replacement, with the reason. The datastore continues with its old data. A new datastore has no old data and
 * becomes `failed`; its record stays, so that it is never started empty.
 */
export function giveUpReplacement({ datastore_id: id, kind, volume }: Replacement, reason: string): void {
  useDatabase().transaction(() => {
    giveUpVolume(volume, id)
    recordDatastore(id, { error: reason })
    if (kind === 'first') tryMove(datastoreMachine, id, 'failed')
    else deleteReplacement(id)
  })
  tellDatastore(id)
}

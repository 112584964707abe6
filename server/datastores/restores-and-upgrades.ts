import { insertSpareVolume, KEPT_MS } from '../backups/spare-volumes.ts'
import { runningBackup, type BackupRow } from '../backups/store.ts'
import { announceDatastore } from '../changes.ts'
import { useDatabase } from '../context.ts'
import { AppError } from '../errors.ts'
import { releaseAddress } from '../instances/addresses.ts'
import { endMove, runningMove } from '../moves/store.ts'
import { nodeName } from '../nodes/store.ts'
import { emitEvent } from '../notifications/events.ts'
import { assertUnfenced } from '../restore/fence.ts'
import { tryMove } from '../state-machine.ts'
import { majorOf } from './kinds.ts'
import { newVolume, recordNew } from './operations.ts'
import {
  countTry,
  deleteRestoreOrUpgrade,
  getRestoreOrUpgrade,
  giveUpVolume,
  insertRestoreOrUpgrade,
  updateRestoreOrUpgrade,
  type NewRestoreOrUpgrade,
  type RestoreOrUpgrade,
} from './restores-and-upgrades-store.ts'
import { datastoreMachine } from './states.ts'
import { getDatastore, recordDatastore, refoundDatastore, type DatastoreRow } from './store.ts'

/** Statuses of a source whose version or backups may change before they are read. */
const UNSETTLED: ReadonlySet<string> = new Set(['upgrading', 'deleting', 'gone'])

/**
 * Restores a backup into a new datastore with this name, or into its own datastore when there is none. Throws `conflict`
 * when the backup has no file, the name is in use, or the datastore is busy. A new datastore cannot be made from one that is
 * being upgraded or deleted.
 */
export function restoreBackup(datastore: DatastoreRow, backup: BackupRow, name?: string): DatastoreRow {
  assertUnfenced()
  if (backup.sha256 === null)
    throw new AppError('conflict', `the backup ${backup.id} is ${backup.status}: there is nothing to restore`)
  return name === undefined ? restoreInPlace(datastore, backup) : restoreBeside(datastore, backup, name)
}

function restoreInPlace(datastore: DatastoreRow, backup: BackupRow): DatastoreRow {
  const { id, version } = datastore
  beginReplacing(datastore, 'restoring', {
    datastore_id: id,
    kind: 'restore',
    backup_id: backup.id,
    version,
    volume: newVolume(id),
  })
  return getDatastore(id)!
}

function restoreBeside(datastore: DatastoreRow, backup: BackupRow, name: string): DatastoreRow {
  const { environment_id, node_id, kind, repository, version, database, username, image_id } = datastore
  const { memory_limit_mb, cpu_limit, backup_retention } = datastore
  const made = useDatabase().transaction(() => {
    const status = getDatastore(datastore.id)?.status ?? 'gone'
    if (UNSETTLED.has(status)) throw new AppError('conflict', `datastore ${datastore.name} is ${status}`)
    const limits = { memory_limit_mb, cpu_limit, backup_retention, backup_schedule: null }
    const image = { kind, repository, version, database, username }
    const row = recordNew({ environment_id, node_id, name, status: 'restoring', ...image, ...limits })
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
  announceDatastore(made.id, 'created')
  return getDatastore(made.id)!
}

/**
 * Upgrades a datastore to a newer major version. Throws `invalid_request` for any other version, `conflict` while it is
 * busy.
 */
export function upgradeDatastore(datastore: DatastoreRow, version: string): DatastoreRow {
  assertUnfenced()
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
  beginReplacing(datastore, 'upgrading', {
    datastore_id: id,
    kind: 'upgrade',
    backup_id: null,
    version,
    volume: newVolume(id),
  })
  return getDatastore(id)!
}

/** Records that a datastore gets other data. Throws `conflict` while it is busy. */
export function beginReplacing(
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
  announceDatastore(id)
}

/** Begins a restore or upgrade again, on a new empty volume. The volume of the earlier try is given up. */
export function beginTry({ datastore_id: id, volume, kind }: RestoreOrUpgrade): RestoreOrUpgrade {
  useDatabase().transaction(() => {
    const fresh = newVolume(id)
    giveUpVolume(volume, id)
    countTry(id, fresh)
    if (kind === 'first') {
      const { version, image_id, node_id } = getDatastore(id)!
      refoundDatastore(id, { volume: fresh, version, image_id, node_id })
    }
  })
  return getRestoreOrUpgrade(id)!
}

/** Makes a datastore read-only until its restore or upgrade ends. */
export function forbidWrites(datastoreId: string): void {
  updateRestoreOrUpgrade(datastoreId, { reads_only: 1 })
  announceDatastore(datastoreId)
}

/** Replaces the data of a datastore with the new data. The old data is kept for a day. */
export function finishRestoreOrUpgrade(
  row: DatastoreRow,
  { volume, version }: RestoreOrUpgrade,
  imageId: string,
): void {
  const move = runningMove(row.id)
  useDatabase().transaction(() => {
    if (row.volume !== volume)
      insertSpareVolume({
        volume: row.volume,
        node_id: row.node_id,
        datastore_id: row.id,
        remove_at: Date.now() + KEPT_MS,
        version: row.version,
      })
    const node_id = move?.to_node_id ?? row.node_id
    refoundDatastore(row.id, { volume, version, image_id: imageId, node_id })
    deleteRestoreOrUpgrade(row.id)
    if (move) endMove(row.id, 'succeeded')
    if (!move?.from_backup) return
    // Its container on the lost node may still run at that address.
    recordDatastore(row.id, { address: null })
    releaseAddress(row.id)
  })
  if (move) emitEvent('datastore.moved', row.id, nodeName(move.to_node_id))
  announceDatastore(row.id)
}

/**
 * Gives up a restore or upgrade, with the reason. The datastore continues with its old data. A new datastore has no old data and
 * becomes `failed`; its record stays, so that it is never started empty.
 */
export function giveUpRestoreOrUpgrade(
  { datastore_id: id, kind, volume }: RestoreOrUpgrade,
  reason: string,
): void {
  useDatabase().transaction(() => {
    giveUpVolume(volume, id)
    endMove(id, 'failed', reason)
    recordDatastore(id, { error: reason })
    if (kind === 'first') tryMove(datastoreMachine, id, 'failed')
    else deleteRestoreOrUpgrade(id)
  })
  announceDatastore(id)
}

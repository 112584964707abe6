import { announceDatastore } from '../changes.ts'
import { useDatabase } from '../context.ts'
import { getDatastore, type DatastoreRow } from '../datastores/store.ts'
import { findEnvironment } from '../environments/store.ts'
import { AppError } from '../errors.ts'
import { isId, newId } from '../ids.ts'
import { tryMove } from '../state-machine.ts'
import { useBucket, type Bucket } from './bucket.ts'
import { downloadName } from './download.ts'
import { removeBackupFiles, type BackupFile } from './files.ts'
import { backupMachine, type BackupTrigger } from './states.ts'
import {
  deleteBackupRow,
  forgetSpareObject,
  getBackup,
  insertBackup,
  insertSpareObject,
  isBeingRestored,
  listBackups,
  runningBackup,
  setBackupCopy,
  setBackupFile,
  surplusBackups,
  type BackupRow,
} from './store.ts'

/** The backup of a datastore with this id. Throws `not_found`. */
export function findBackup(datastore: DatastoreRow, id: string): BackupRow {
  const found = isId('backup', id) ? getBackup(id) : undefined
  if (found?.datastore_id !== datastore.id)
    throw new AppError('not_found', `datastore ${datastore.name} has no backup ${id}`)
  return found
}

/** Records a backup that the daemon then makes. Throws `conflict` while one is running or the datastore is not available. */
export function requestBackup(datastore: DatastoreRow): BackupRow {
  if (datastore.status !== 'available')
    throw new AppError(
      'conflict',
      `datastore ${datastore.name} is ${datastore.status}: it can only be backed up while it is available`,
    )
  return beginBackup(datastore, 'manual')
}

/**
 * Records a backup, whatever the datastore's status, and in the same transaction what `record` writes. Throws `conflict`
 * while one is running.
 */
export function beginBackup(
  datastore: DatastoreRow,
  trigger: BackupTrigger,
  record: (id: string) => void = () => {},
): BackupRow {
  const id = newId('backup')
  useDatabase().transaction(() => {
    const running = runningBackup(datastore.id)
    if (running)
      throw new AppError('conflict', `the backup ${running.id} of datastore ${datastore.name} is running`)
    insertBackup({ id, datastore_id: datastore.id, trigger })
    record(id)
  })
  announceDatastore(datastore.id)
  return getBackup(id)!
}

/** Records a scheduled backup that could not start. */
export function missBackup(datastore: DatastoreRow, error: string): void {
  insertBackup({ id: newId('backup'), datastore_id: datastore.id, trigger: 'schedule', error })
  announceDatastore(datastore.id)
}

/** Records why a backup failed, unless it has ended or was removed in the meantime. */
export function failBackup({ id, datastore_id }: BackupRow, error: string): void {
  if (tryMove(backupMachine, id, 'failed', { error, finished_at: Date.now() }))
    announceDatastore(datastore_id)
}

/** Records that the file of a backup is complete. The backup has then succeeded, unless a copy is still to follow. */
export function recordBackupFile({ id, datastore_id }: BackupRow, { size_bytes, sha256 }: BackupFile): void {
  if (!setBackupFile(id, size_bytes, sha256)) return
  if (useBucket() === null) succeed(id)
  announceDatastore(datastore_id)
}

/** Records the success of a backup with a file when there no longer is a bucket to copy it to. */
export function settleBackup({ id, datastore_id }: BackupRow): void {
  succeed(id)
  announceDatastore(datastore_id)
}

/** The address of a backup's copy, named so that people can find it without this server. */
export function copyUrlOf(bucket: Bucket, backup: BackupRow): string {
  const datastore = getDatastore(backup.datastore_id)!
  const environment = findEnvironment(datastore.environment_id)
  const folder = `${environment.name}/${datastore.name}`
  return bucket.urlOf(`${folder}/${backup.id}-${downloadName(datastore, backup)}`)
}

/** Records that the copy of a backup is complete. If the backup was removed meanwhile, the copy stays marked for removal. */
export function recordCopy({ id, datastore_id }: BackupRow, url: string): void {
  useDatabase().transaction(() => {
    if (!setBackupCopy(id, url, null)) return
    forgetSpareObject(url)
    succeed(id)
  })
  announceDatastore(datastore_id)
}

/** Records why there is no copy of a backup; its file stays. */
export function recordCopyFault({ id, datastore_id }: BackupRow, error: string): void {
  useDatabase().transaction(() => {
    if (setBackupCopy(id, null, error)) succeed(id)
  })
  announceDatastore(datastore_id)
}

/** Removes a backup with its file and its copy. Throws `conflict` while it is made or restored. */
export async function deleteBackup({ id, datastore_id }: BackupRow): Promise<void> {
  useDatabase().transaction(() => {
    if (getBackup(id)?.status === 'running')
      throw new AppError('conflict', `the backup ${id} is running: wait until it has finished`)
    if (isBeingRestored(id))
      throw new AppError('conflict', `the backup ${id} is being restored: wait until that has finished`)
    forgetBackup(id)
  })
  await removeBackupFiles(id)
  announceDatastore(datastore_id)
}

/** Removes what an earlier try left of a backup that is started again: nobody asked for two. */
export async function withdrawBackup({ id, datastore_id }: BackupRow): Promise<void> {
  useDatabase().transaction(() => forgetBackup(id))
  await removeBackupFiles(id)
  announceDatastore(datastore_id)
}

/** Removes the oldest backups beyond what each datastore keeps. */
export async function removeSurplusBackups(): Promise<void> {
  for (const { id, datastore_id } of surplusBackups()) {
    useDatabase().transaction(() => forgetBackup(id))
    await removeBackupFiles(id)
    announceDatastore(datastore_id)
  }
}

/** Removes every backup of a datastore that is being deleted, with its file and its copy. */
export async function removeBackupsOf(datastoreId: string): Promise<void> {
  for (const { id } of listBackups(datastoreId)) {
    useDatabase().transaction(() => forgetBackup(id))
    await removeBackupFiles(id)
  }
}

/** Deletes the record of a backup. Its copy is removed later, when the bucket can be reached. */
function forgetBackup(id: string): void {
  const url = getBackup(id)?.object_url
  if (url) insertSpareObject(url)
  deleteBackupRow(id)
}

function succeed(id: string): void {
  tryMove(backupMachine, id, 'succeeded', { finished_at: Date.now() })
}

import { tellDatastore } from '../changes.ts'
import { useDatabase } from '../context.ts'
import type { DatastoreRow } from '../datastores/store.ts'
import { AppError } from '../errors.ts'
import { isId, newId } from '../ids.ts'
import { tryMove } from '../machine.ts'
import { removeBackupFiles } from './files.ts'
import { backupMachine, type BackupTrigger } from './states.ts'
import {
  deleteBackupRow,
  getBackup,
  insertBackup,
  listBackups,
  runningBackup,
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

/** Records a backup that the daemon then makes. Throws `conflict` while one runs, or while the datastore does not answer. */
export function requestBackup(datastore: DatastoreRow): BackupRow {
  if (datastore.status !== 'available')
    throw new AppError(
      'conflict',
      `datastore ${datastore.name} is ${datastore.status}: a backup needs it available`,
    )
  return beginBackup(datastore, 'manual')
}

/** Records a backup, whatever the datastore's status. Throws `conflict` while one runs. */
export function beginBackup(datastore: DatastoreRow, trigger: BackupTrigger): BackupRow {
  const id = newId('backup')
  useDatabase().transaction(() => {
    const running = runningBackup(datastore.id)
    if (running)
      throw new AppError('conflict', `the backup ${running.id} of datastore ${datastore.name} is running`)
    insertBackup({ id, datastore_id: datastore.id, trigger })
  })
  tellDatastore(datastore.id)
  return getBackup(id)!
}

/** Records a backup that fell due and could not begin. */
export function missBackup(datastore: DatastoreRow, error: string): void {
  insertBackup({ id: newId('backup'), datastore_id: datastore.id, trigger: 'schedule', error })
  tellDatastore(datastore.id)
}

/** Records how a backup ended; one that was removed meanwhile stays so. */
export function endBackup(
  { id, datastore_id }: BackupRow,
  end: { size_bytes: number; sha256: string } | { error: string },
): void {
  const to = 'error' in end ? 'failed' : 'succeeded'
  if (tryMove(backupMachine, id, to, { ...end, finished_at: Date.now() })) tellDatastore(datastore_id)
}

/** Removes a backup with its file. Throws `conflict` while it is made or restored. */
export async function deleteBackup({ id, datastore_id }: BackupRow): Promise<void> {
  useDatabase().transaction(() => {
    if (getBackup(id)?.status === 'running')
      throw new AppError('conflict', `the backup ${id} is running: wait for its end`)
    if (isBeingRestored(id)) throw new AppError('conflict', `the backup ${id} is being restored`)
    deleteBackupRow(id)
  })
  await removeBackupFiles(id)
  tellDatastore(datastore_id)
}

/** Removes the oldest backups beyond what each datastore keeps. */
export async function removeSurplusBackups(): Promise<void> {
  for (const { id, datastore_id } of surplusBackups()) {
    deleteBackupRow(id)
    await removeBackupFiles(id)
    tellDatastore(datastore_id)
  }
}

/** Removes the files of every backup of a datastore that goes; its records go with it. */
export async function removeBackupsOf(datastoreId: string): Promise<void> {
  for (const { id } of listBackups(datastoreId)) await removeBackupFiles(id)
}

function isBeingRestored(id: string): boolean {
  return useDatabase().get('SELECT 1 FROM replacements WHERE backup_id = ?', id) !== undefined
}

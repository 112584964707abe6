import { useDatabase } from '../context.ts'
import type { BackupStatus, BackupTrigger } from './states.ts'

/** A row of `backups`. Times are milliseconds. */
export interface BackupRow {
  sequence: number
  id: string
  datastore_id: string
  status: BackupStatus
  trigger: BackupTrigger
  size_bytes: number | null
  sha256: string | null
  /** The address of its copy in a bucket. */
  object_url: string | null
  error: string | null
  created_at: number
  finished_at: number | null
}

export function getBackup(id: string): BackupRow | undefined {
  return useDatabase().get<BackupRow>('SELECT * FROM backups WHERE id = ?', id)
}

/** The backups of a datastore, newest first. */
export function listBackups(datastoreId: string): BackupRow[] {
  return useDatabase().all<BackupRow>(
    'SELECT * FROM backups WHERE datastore_id = ? ORDER BY sequence DESC',
    datastoreId,
  )
}

/** Every running backup: its file is being made or, once that is complete, its copy. */
export function runningBackups(): BackupRow[] {
  return useDatabase().all<BackupRow>("SELECT * FROM backups WHERE status = 'running' ORDER BY sequence")
}

/** The backup of a datastore whose file is being made. */
export function runningBackup(datastoreId: string): BackupRow | undefined {
  return useDatabase().get<BackupRow>(
    "SELECT * FROM backups WHERE datastore_id = ? AND status = 'running' AND sha256 IS NULL",
    datastoreId,
  )
}

/** Records a backup as running or, with an error, as failed from the start. */
export function insertBackup(
  row: Pick<BackupRow, 'id' | 'datastore_id' | 'trigger'> & { error?: string },
): void {
  const now = Date.now()
  const error = row.error ?? null
  useDatabase().run(
    'INSERT INTO backups (id, datastore_id, status, trigger, error, created_at, finished_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
    row.id,
    row.datastore_id,
    error === null ? 'running' : 'failed',
    row.trigger,
    error,
    now,
    error === null ? null : now,
  )
}

/** Records the size and checksum of a backup's file; false if the backup is no longer running. */
export function setBackupFile(id: string, size: number, sha256: string): boolean {
  const sql = "UPDATE backups SET size_bytes = ?, sha256 = ? WHERE id = ? AND status = 'running'"
  return useDatabase().run(sql, size, sha256, id) > 0
}

/** Records where the copy of a backup is, or why there is none; false when the backup is gone. */
export function setBackupCopy(id: string, url: string | null, error: string | null): boolean {
  return useDatabase().run('UPDATE backups SET object_url = ?, error = ? WHERE id = ?', url, error, id) > 0
}

/** Backups whose file has not been copied yet, oldest first; without those of datastores that are being deleted. */
export function uncopiedBackups(): BackupRow[] {
  return useDatabase().all<BackupRow>(
    `SELECT backups.* FROM backups JOIN datastores ON datastores.id = datastore_id
     WHERE backups.status <> 'failed' AND sha256 IS NOT NULL AND object_url IS NULL AND datastores.status <> 'deleting'
     ORDER BY sequence`,
  )
}

/** Datastores being filled, and from which backup. A new one that failed keeps its record but no longer needs the backup. */
const FILLED = `replacements JOIN datastores ON datastores.id = replacements.datastore_id
   AND datastores.status IN ('restoring', 'upgrading')`

/** Whether a datastore is being filled from a backup. */
export function isBeingRestored(id: string): boolean {
  return useDatabase().get(`SELECT 1 FROM ${FILLED} WHERE backup_id = ?`, id) !== undefined
}

/** The name of another datastore that is being filled from a backup of this one. */
export function filledFrom(datastoreId: string): string | undefined {
  return useDatabase().get<{ name: string }>(
    `SELECT datastores.name FROM ${FILLED} JOIN backups ON backups.id = backup_id
     WHERE backups.datastore_id = ?1 AND datastores.id <> ?1`,
    datastoreId,
  )?.name
}

/** Records an object in a bucket that is to be removed unless a backup comes to own it. */
export function insertSpareObject(url: string): void {
  useDatabase().run('INSERT OR IGNORE INTO spare_objects (url) VALUES (?)', url)
}

/** The addresses of objects that are to be removed. */
export function spareObjects(): string[] {
  return useDatabase()
    .all<{ url: string }>('SELECT url FROM spare_objects ORDER BY url')
    .map(({ url }) => url)
}

/** Whether an object that no backup owns may still exist, in whole or in part. */
export function isSpareObject(url: string): boolean {
  return useDatabase().get('SELECT 1 FROM spare_objects WHERE url = ?', url) !== undefined
}

export function forgetSpareObject(url: string): void {
  useDatabase().run('DELETE FROM spare_objects WHERE url = ?', url)
}

export function deleteBackupRow(id: string): void {
  useDatabase().run('DELETE FROM backups WHERE id = ?', id)
}

/** Backups beyond what their datastores keep, counted separately by status; without those that are being restored. */
export function surplusBackups(): BackupRow[] {
  return useDatabase().all<BackupRow>(
    `SELECT * FROM (
       SELECT backups.*, datastores.backup_retention AS kept,
         row_number() OVER (PARTITION BY datastore_id, backups.status ORDER BY sequence DESC) AS place
       FROM backups JOIN datastores ON datastores.id = datastore_id
       WHERE backups.status <> 'running')
     WHERE place > kept AND id NOT IN (SELECT backup_id FROM ${FILLED} WHERE backup_id IS NOT NULL)`,
  )
}

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

/** Every backup that is under way. */
export function runningBackups(): BackupRow[] {
  return useDatabase().all<BackupRow>("SELECT * FROM backups WHERE status = 'running' ORDER BY sequence")
}

/** The backup of a datastore that is under way. */
export function runningBackup(datastoreId: string): BackupRow | undefined {
  return useDatabase().get<BackupRow>(
    "SELECT * FROM backups WHERE datastore_id = ? AND status = 'running'",
    datastoreId,
  )
}

/** Records a backup, under way or, with an error, failed from the start. */
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

export function deleteBackupRow(id: string): void {
  useDatabase().run('DELETE FROM backups WHERE id = ?', id)
}

/** Backups beyond what their datastores keep, counted apart by how they ended; not those that are being restored. */
export function surplusBackups(): BackupRow[] {
  return useDatabase().all<BackupRow>(
    `SELECT * FROM (
       SELECT backups.*, datastores.backup_retention AS kept,
         row_number() OVER (PARTITION BY datastore_id, backups.status ORDER BY sequence DESC) AS place
       FROM backups JOIN datastores ON datastores.id = datastore_id
       WHERE backups.status <> 'running')
     WHERE place > kept AND id NOT IN (SELECT backup_id FROM replacements WHERE backup_id IS NOT NULL)`,
  )
}

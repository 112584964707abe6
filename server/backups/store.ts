import { useDatabase } from '../context.ts'
import { currentActorText } from '../service-events/store.ts'
import type { Owned } from './owners.ts'
import type { BackupStatus, BackupTrigger } from './states.ts'

/** A row of `backups`. Times are milliseconds. */
export interface BackupRow extends Owned {
  sequence: number
  id: string
  /** That of its datastore or its service, whichever it has. */
  owner_id: string
  /** The name of the disk; null for a datastore. */
  disk: string | null
  /** 1 when the program is stopped while a disk is read. */
  suspends: 0 | 1
  status: BackupStatus
  trigger: BackupTrigger
  size_bytes: number | null
  sha256: string | null
  /** The address of its copy in a bucket. */
  object_url: string | null
  /** 1 when that copy is sealed with the passphrase for backups. */
  encrypted: 0 | 1
  error: string | null
  created_at: number
  finished_at: number | null
  /** JSON of who asked for it; null for the server itself. */
  created_by: string | null
}

export function getBackup(id: string): BackupRow | undefined {
  return useDatabase().get<BackupRow>('SELECT * FROM backups WHERE id = ?', id)
}

/** The backups of a datastore or of a service's disks, newest first. */
export function listBackups(ownerId: string): BackupRow[] {
  return useDatabase().all<BackupRow>(
    'SELECT * FROM backups WHERE owner_id = ? ORDER BY sequence DESC',
    ownerId,
  )
}

/** Every running backup: its file is being made or, once that is complete, its copy. */
export function runningBackups(): BackupRow[] {
  return useDatabase().all<BackupRow>("SELECT * FROM backups WHERE status = 'running' ORDER BY sequence")
}

/** The backups of a datastore or of a service's disks whose files are being made. */
export function runningBackupsOf(ownerId: string): BackupRow[] {
  return useDatabase().all<BackupRow>(
    "SELECT * FROM backups WHERE owner_id = ? AND status = 'running' AND sha256 IS NULL ORDER BY sequence",
    ownerId,
  )
}

/** The backup of a datastore, or of one of a service's disks, whose file is being made. */
export function runningBackup(ownerId: string, disk: string | null = null): BackupRow | undefined {
  return runningBackupsOf(ownerId).find((backup) => backup.disk === disk)
}

/** When each datastore was last backed up; without those that never were. */
export function lastBackups(): { id: string; name: string; environment: string; at: number }[] {
  return useDatabase().all(
    `SELECT datastores.id, datastores.name, environments.name AS environment, max(finished_at) AS at
     FROM backups JOIN datastores ON datastores.id = datastore_id JOIN environments ON environments.id = environment_id
     WHERE backups.status = 'succeeded' GROUP BY datastores.id ORDER BY datastores.id`,
  )
}

/** Records a backup as running or, with an error, as failed from the start. */
export function insertBackup(
  row: Pick<BackupRow, 'id' | 'datastore_id' | 'service_id' | 'disk' | 'suspends' | 'trigger'> & {
    error?: string
  },
): void {
  const now = Date.now()
  const error = row.error ?? null
  useDatabase().run(
    `INSERT INTO backups (id, datastore_id, service_id, disk, suspends, status, trigger, error, created_at, finished_at, created_by)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    row.id,
    row.datastore_id,
    row.service_id,
    row.disk,
    row.suspends,
    error === null ? 'running' : 'failed',
    row.trigger,
    error,
    now,
    error === null ? null : now,
    currentActorText(),
  )
}

/** Records the size and checksum of a backup's file; false if the backup is no longer running. */
export function setBackupFile(id: string, size: number, sha256: string): boolean {
  const sql = "UPDATE backups SET size_bytes = ?, sha256 = ? WHERE id = ? AND status = 'running'"
  return useDatabase().run(sql, size, sha256, id) > 0
}

/** Records where the copy of a backup is and whether it is sealed, or why there is none; false when the backup is gone. */
export function setBackupCopy(
  id: string,
  { url, isSealed = false, error }: { url?: string; isSealed?: boolean; error?: string },
): boolean {
  const sql = 'UPDATE backups SET object_url = ?, encrypted = ?, error = ? WHERE id = ?'
  return useDatabase().run(sql, url ?? null, isSealed ? 1 : 0, error ?? null, id) > 0
}

/** A backup with the record of its datastore or its service. */
const OWNED = `backups LEFT JOIN datastores ON datastores.id = datastore_id LEFT JOIN services ON services.id = service_id`

/** Backups whose file has not been copied yet, oldest first; without those whose owner is being deleted. */
export function uncopiedBackups(): BackupRow[] {
  return useDatabase().all<BackupRow>(
    `SELECT backups.* FROM ${OWNED}
     WHERE backups.status <> 'failed' AND sha256 IS NOT NULL AND object_url IS NULL
       AND coalesce(datastores.status <> 'deleting', services.deleting = 0)
     ORDER BY sequence`,
  )
}

/** Datastores being filled, and from which backup. A new one that failed keeps its record but no longer needs the backup. */
const FILLED = `replacements JOIN datastores ON datastores.id = replacements.datastore_id
   AND datastores.status IN ('restoring', 'upgrading')`

/** The backups that a datastore or a disk is being filled from. */
const BEING_RESTORED = `SELECT backup_id FROM ${FILLED} WHERE backup_id IS NOT NULL
  UNION SELECT backup_id FROM disk_restores WHERE status = 'running'`

/** Whether a datastore or a disk is being filled from a backup. */
export function isBeingRestored(id: string): boolean {
  return useDatabase().get(`SELECT 1 WHERE ? IN (${BEING_RESTORED})`, id) !== undefined
}

/** The name of another datastore, or of the service of another disk, that is being filled from a backup of this one. */
export function filledFrom(ownerId: string): { id: string; name: string } | undefined {
  return useDatabase().get<{ id: string; name: string }>(
    `SELECT filled.id, name FROM (
       SELECT datastores.id, name, backup_id FROM ${FILLED}
       UNION SELECT services.id, name, backup_id FROM disk_restores JOIN services ON services.id = service_id
       WHERE status = 'running') AS filled
     JOIN backups ON backups.id = backup_id
     WHERE backups.owner_id = ?1 AND filled.id <> ?1`,
    ownerId,
  )
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

/** Backups beyond what is kept of each owner, counted separately by status; without those that are being restored. */
export function surplusBackups(): BackupRow[] {
  return useDatabase().all<BackupRow>(
    `SELECT * FROM (
       SELECT backups.*, coalesce(backup_retention, disk_backup_retention) AS kept,
         row_number() OVER (PARTITION BY owner_id, disk, backups.status ORDER BY sequence DESC) AS place
       FROM ${OWNED}
       WHERE backups.status <> 'running')
     WHERE place > kept AND id NOT IN (${BEING_RESTORED})`,
  )
}

import { useDatabase } from '../context.ts'
import type { Database } from '../database/index.ts'
import type { ServerBackupStatus, ServerBackupTrigger } from './states.ts'

/** A row of `server_backups`. Times are milliseconds; switches are 0 or 1. */
export interface ServerBackupRow {
  sequence: number
  id: string
  status: ServerBackupStatus
  trigger: ServerBackupTrigger
  datastores: number
  disks: number
  logs: number
  progress_percent: number
  size_bytes: number | null
  sha256: string | null
  encrypted: number
  /** The address of its copy in a bucket. */
  object_url: string | null
  verified_at: number | null
  damaged: number
  error: string | null
  created_at: number
  finished_at: number | null
}

export function getServerBackup(id: string): ServerBackupRow | undefined {
  return useDatabase().get<ServerBackupRow>('SELECT * FROM server_backups WHERE id = ?', id)
}

/** All server backups, newest first. */
export function listServerBackups(): ServerBackupRow[] {
  return useDatabase().all<ServerBackupRow>('SELECT * FROM server_backups ORDER BY sequence DESC')
}

/** Those that run: at most one whose file is being made, and others that are being copied. */
export function runningServerBackups(): ServerBackupRow[] {
  return useDatabase().all<ServerBackupRow>(
    "SELECT * FROM server_backups WHERE status = 'running' ORDER BY sequence",
  )
}

/** The one whose file is being made. */
export function serverBackupInProgress(): ServerBackupRow | undefined {
  return useDatabase().get<ServerBackupRow>(
    "SELECT * FROM server_backups WHERE status = 'running' AND sha256 IS NULL",
  )
}

/** The newest that can be restored. */
export function newestSoundServerBackup(): ServerBackupRow | undefined {
  return useDatabase().get<ServerBackupRow>(
    "SELECT * FROM server_backups WHERE status = 'succeeded' AND damaged = 0 ORDER BY sequence DESC LIMIT 1",
  )
}

export function insertServerBackup(
  row: Pick<ServerBackupRow, 'id' | 'trigger'> & Record<'datastores' | 'disks' | 'logs', boolean>,
): void {
  useDatabase().run(
    `INSERT INTO server_backups (id, status, trigger, datastores, disks, logs, created_at)
     VALUES (?, 'running', ?, ?, ?, ?, ?)`,
    row.id,
    row.trigger,
    Number(row.datastores),
    Number(row.disks),
    Number(row.logs),
    Date.now(),
  )
}

/** Changes some fields of a record; false when it is gone. */
export function updateServerBackup(
  id: string,
  fields: Partial<Omit<ServerBackupRow, 'sequence' | 'id' | 'status' | 'trigger'>>,
): boolean {
  const columns = Object.keys(fields).map((column) => `${column} = ?`)
  const sql = `UPDATE server_backups SET ${columns.join(', ')} WHERE id = ?`
  return useDatabase().run(sql, ...Object.values(fields), id) > 0
}

/** Counts a backup among those of upgrades; in a database that this process may have opened next to the server. */
export function markAsOfUpgrade(database: Database, id: string): void {
  database.run("UPDATE server_backups SET trigger = 'upgrade' WHERE id = ?", id)
}

export function deleteServerBackupRow(id: string): void {
  useDatabase().run('DELETE FROM server_backups WHERE id = ?', id)
}

/** Those that have a file and no copy yet, oldest first. */
export function uncopiedServerBackups(): ServerBackupRow[] {
  return useDatabase().all<ServerBackupRow>(
    `SELECT * FROM server_backups WHERE status IN ('running', 'succeeded') AND sha256 IS NOT NULL
       AND damaged = 0 AND object_url IS NULL ORDER BY sequence`,
  )
}

/**
 * Those beyond what is kept. Sound ones are counted by themselves, so that failures push none out, and those of upgrades
 * apart from the others.
 */
export function surplusServerBackups(kept: number, keptOfUpgrades: number): ServerBackupRow[] {
  return useDatabase().all<ServerBackupRow>(
    `SELECT * FROM (
       SELECT *, row_number() OVER (
         PARTITION BY status = 'succeeded' AND damaged = 0, trigger = 'upgrade' ORDER BY sequence DESC) AS place
       FROM server_backups WHERE status <> 'running')
     WHERE place > iif(trigger = 'upgrade', ?, ?)`,
    keptOfUpgrades,
    kept,
  )
}

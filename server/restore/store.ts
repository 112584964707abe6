import { useDatabase } from '../context.ts'
import type { Database } from '../database/index.ts'
import type { RestoreStatus, RestoreStep, StepResource, StepStatus } from './schema.ts'

interface RestoreRow {
  status: RestoreStatus
  /** Whether the steps were found out. */
  planned: number
  restored_at: number
}

/** A row of `restore_steps`. */
export interface StepRow extends RestoreStep {
  /** The backup or deploy of its work; null until that began. */
  work_id: string | null
}

/** The restore from which this server came; undefined if it came from none. */
export function getRestore(database: Database = useDatabase()): RestoreRow | undefined {
  return database.get<RestoreRow>('SELECT status, planned, restored_at FROM server_restore')
}

/** Records in the database of a backup that it was restored now. What an earlier restore left is forgotten. */
export function insertRestore(database: Database): void {
  database.transaction(() => {
    database.run('DELETE FROM restore_steps')
    database.run("DELETE FROM settings WHERE key = 'restore_waits'")
    // The backup itself, which was not complete when its copy of the database was made.
    database.run("DELETE FROM server_backups WHERE status = 'running'")
    database.run(
      "INSERT OR REPLACE INTO server_restore (id, status, planned, restored_at) VALUES (1, 'fenced', 0, ?)",
      Date.now(),
    )
  })
}

/** Moves the restore on; false when it was not in the status `from`. */
export function moveRestore(from: RestoreStatus, to: RestoreStatus, database = useDatabase()): boolean {
  return database.run('UPDATE server_restore SET status = ? WHERE status = ?', to, from) > 0
}

/** Records the steps, once. */
export function planRestore(steps: Omit<StepRow, 'work_id'>[]): void {
  useDatabase().transaction(() => {
    useDatabase().run('UPDATE server_restore SET planned = 1')
    for (const { resource, id, disk, name, action, status, error } of steps)
      useDatabase().run(
        `INSERT OR IGNORE INTO restore_steps (resource, id, disk, name, action, status, error)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
        resource,
        id,
        disk,
        name,
        action,
        status,
        error,
      )
  })
}

/** The steps in the order in which they are taken. */
export function restoreSteps(database: Database = useDatabase()): StepRow[] {
  return database.all<StepRow>(
    'SELECT resource, id, disk, name, action, status, error, work_id FROM restore_steps ORDER BY sequence',
  )
}

/** Records how a step goes. */
export function updateStep(
  { resource, id, disk }: { resource: StepResource; id: string; disk: string | null },
  { status, error = null, work_id }: { status: StepStatus; error?: string | null; work_id?: string },
): void {
  useDatabase().run(
    `UPDATE restore_steps SET status = ?, error = ?, work_id = coalesce(?, work_id) WHERE resource = ? AND id = ? AND disk IS ?`,
    status,
    error,
    work_id ?? null,
    resource,
    id,
    disk,
  )
}

import { useDatabase } from '../context.ts'
import type { DiskRestoreStatus } from './states.ts'

/** A row of `disk_restores`: the last restore of one of a service's disks. Times are milliseconds. */
export interface DiskRestoreRow {
  service_id: string
  backup_id: string
  /** The name of the disk that is restored. */
  disk: string
  status: DiskRestoreStatus
  /** The volume that is being filled; once it has succeeded, the service's disk. */
  volume: string
  error: string | null
  /** How often it was begun. Orderly stops of the server are not counted. */
  tries: number
  started_at: number
  finished_at: number | null
}

export function getDiskRestore(serviceId: string): DiskRestoreRow | undefined {
  return useDatabase().get<DiskRestoreRow>('SELECT * FROM disk_restores WHERE service_id = ?', serviceId)
}

/** The last restore of each service's disks in an environment, by service. */
export function diskRestoresOf(environmentId: string): Map<string, DiskRestoreRow> {
  const rows = useDatabase().all<DiskRestoreRow>(
    `SELECT disk_restores.* FROM disk_restores JOIN services ON services.id = service_id WHERE environment_id = ?`,
    environmentId,
  )
  return new Map(rows.map((row) => [row.service_id, row]))
}

export function runningDiskRestores(): DiskRestoreRow[] {
  return useDatabase().all<DiskRestoreRow>(
    "SELECT * FROM disk_restores WHERE status = 'running' ORDER BY service_id",
  )
}

/** Whether a disk of a service is being restored: this one, or any. */
export function isDiskRestoring(serviceId: string, disk?: string): boolean {
  const restore = getDiskRestore(serviceId)
  return restore?.status === 'running' && (disk === undefined || restore.disk === disk)
}

/** Records a restore that begins, in place of the one before. */
export function insertDiskRestore(
  row: Pick<DiskRestoreRow, 'service_id' | 'backup_id' | 'disk' | 'volume'>,
): void {
  useDatabase().run(
    `INSERT OR REPLACE INTO disk_restores (service_id, backup_id, disk, status, volume, started_at)
     VALUES (?, ?, ?, 'running', ?, ?)`,
    row.service_id,
    row.backup_id,
    row.disk,
    row.volume,
    Date.now(),
  )
}

/** Records another try, with a new empty volume. */
export function countDiskTry(serviceId: string, volume: string): void {
  useDatabase().run(
    'UPDATE disk_restores SET tries = tries + 1, volume = ? WHERE service_id = ?',
    volume,
    serviceId,
  )
}

/** Takes one try back from each restore that was begun. */
export function takeBackDiskTries(): void {
  useDatabase().run("UPDATE disk_restores SET tries = tries - 1 WHERE status = 'running' AND tries > 0")
}

/** Records the end of a restore; with an error it has failed. Returns whether it was running. */
export function endDiskRestore(serviceId: string, error: string | null): boolean {
  return (
    useDatabase().run(
      "UPDATE disk_restores SET status = ?, error = ?, finished_at = ? WHERE service_id = ? AND status = 'running'",
      error === null ? 'succeeded' : 'failed',
      error,
      Date.now(),
      serviceId,
    ) > 0
  )
}

import type { SpareVolume } from '../backups/spare-volumes.ts'
import type { BackupRow } from '../backups/store.ts'
import { viewStored } from '../backups/view.ts'
import { timestamp } from '../clock.ts'
import type { DiskRestoreRow } from './restores-store.ts'
import type { DiskBackup, DiskRestore, KeptDisk } from './schema.ts'

/** One backup of a disk as the API returns it. */
export function viewDiskBackup(row: BackupRow): DiskBackup {
  const { id, service_id, disk, status, trigger, suspends } = row
  return {
    id,
    service_id: service_id!,
    disk: disk!,
    status,
    trigger: trigger as DiskBackup['trigger'],
    consistent: suspends === 1,
    ...viewStored(row),
  }
}

/** The last restore of a disk as the API returns it. */
export function viewDiskRestore(row: DiskRestoreRow | undefined): DiskRestore | null {
  if (!row) return null
  const { backup_id, disk, status, error } = row
  return {
    backup_id,
    disk,
    status,
    error,
    started_at: timestamp(row.started_at),
    finished_at: timestamp(row.finished_at),
  }
}

/** The replaced volumes of a disk as the API returns them. */
export function viewKeptDisks(rows: SpareVolume[]): KeptDisk[] {
  return rows.map(({ volume, disk, remove_at }) => ({
    disk: disk!,
    volume,
    kept_until: timestamp(remove_at),
  }))
}

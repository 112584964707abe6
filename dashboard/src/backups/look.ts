import type { Backup, BackupStatus, BackupTrigger, DiskBackup } from '../api/types.ts'
import type { Tone } from '../ui/StatusBadge.vue'

/** A backup of a datastore or of a disk. */
export type AnyBackup = Backup | DiskBackup

interface Presentation {
  label: string
  tone: Tone
}

const BACKUP_STATUS: Record<BackupStatus, Presentation> = {
  running: { label: 'Running', tone: 'progress' },
  succeeded: { label: 'Succeeded', tone: 'success' },
  failed: { label: 'Failed', tone: 'danger' },
}

/** What started a backup. */
export const BACKUP_TRIGGER: Record<BackupTrigger, string> = {
  manual: 'manual',
  schedule: 'scheduled',
  upgrade: 'before an upgrade',
  server: 'for a backup of the server',
}

/** How the status of a backup reads: a backup whose copy to the bucket is missing is not a full success. */
export function backupLook({ status, sha256, error }: AnyBackup): Presentation {
  if (status === 'running' && sha256 !== null) return { label: 'Copying to the bucket', tone: 'progress' }
  if (status === 'succeeded' && error !== null) return { label: 'On this server only', tone: 'warning' }
  return BACKUP_STATUS[status]
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']

/** "482 bytes", "12.3 MiB". */
export function sizeText(bytes: number): string {
  let [size, unit] = [bytes, 0]
  for (; size >= 1_024 && unit < UNITS.length - 1; unit++) size /= 1_024
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${UNITS[unit]}`
}

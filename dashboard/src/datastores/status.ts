import type { Backup, BackupStatus, BackupTrigger, Datastore, DatastoreStatus } from '../api/types.ts'
import type { Tone } from '../ui/StatusBadge.vue'

interface Presentation {
  label: string
  tone: Tone
}

export const DATASTORE_STATUS: Record<DatastoreStatus, Presentation & { meaning: string }> = {
  creating: {
    label: 'Creating',
    tone: 'progress',
    meaning: 'Its image is being pulled, or it does not answer yet.',
  },
  available: { label: 'Available', tone: 'success', meaning: 'It accepts connections.' },
  unavailable: {
    label: 'Unavailable',
    tone: 'danger',
    meaning: 'It does not answer. It is restarted automatically.',
  },
  upgrading: {
    label: 'Upgrading',
    tone: 'progress',
    meaning: 'Read-only until the upgrade finishes.',
  },
  restoring: {
    label: 'Restoring',
    tone: 'progress',
    meaning: 'A backup is being loaded into a new volume alongside the current data.',
  },
  failed: {
    label: 'Failed',
    tone: 'danger',
    meaning: 'It could not be created. This is retried automatically, with longer and longer pauses.',
  },
  deleting: { label: 'Deleting', tone: 'progress', meaning: 'Its container and its data are being removed.' },
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
}

/** How the status of a backup reads: a backup whose copy to the bucket is missing is not a full success. */
export function backupLook({ status, sha256, error }: Backup): Presentation {
  if (status === 'running' && sha256 !== null) return { label: 'Copying to the bucket', tone: 'progress' }
  if (status === 'succeeded' && error !== null) return { label: 'On this server only', tone: 'warning' }
  return BACKUP_STATUS[status]
}

export type DatastoreAction = 'backUp' | 'replace' | 'upgrade' | 'change'

/** The statuses in which each action is possible. */
const POSSIBLE: Record<DatastoreAction, readonly DatastoreStatus[]> = {
  backUp: ['available'],
  replace: ['available', 'unavailable'],
  upgrade: ['available'],
  change: ['creating', 'available', 'unavailable', 'upgrading', 'restoring', 'failed'],
}

/** Why an action cannot be done now; null when it can. */
export function obstacle({ status }: Datastore, action: DatastoreAction): string | null {
  if (POSSIBLE[action].includes(status)) return null
  return `The datastore is ${DATASTORE_STATUS[status].label.toLowerCase()}`
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']

/** "482 bytes", "12.3 MiB". */
export function sizeText(bytes: number): string {
  let [size, unit] = [bytes, 0]
  for (; size >= 1_024 && unit < UNITS.length - 1; unit++) size /= 1_024
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${UNITS[unit]}`
}

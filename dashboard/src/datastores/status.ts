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
    meaning: 'Its image is fetched, or its program has not answered yet.',
  },
  available: { label: 'Available', tone: 'success', meaning: 'It answers its clients.' },
  unavailable: {
    label: 'Unavailable',
    tone: 'danger',
    meaning: 'It does not answer. It is started again by itself.',
  },
  upgrading: {
    label: 'Upgrading',
    tone: 'progress',
    meaning: 'It is read and takes no writes until the new version stands.',
  },
  restoring: {
    label: 'Restoring',
    tone: 'progress',
    meaning: 'A backup is loaded into a fresh volume beside what is there.',
  },
  failed: {
    label: 'Failed',
    tone: 'danger',
    meaning: 'It could not be made. It is tried again by itself, each time a little later.',
  },
  deleting: { label: 'Deleting', tone: 'progress', meaning: 'Its container and its data are being removed.' },
}

const BACKUP_STATUS: Record<BackupStatus, Presentation> = {
  running: { label: 'Running', tone: 'progress' },
  succeeded: { label: 'Succeeded', tone: 'success' },
  failed: { label: 'Failed', tone: 'danger' },
}

/** How a backup came about. */
export const BACKUP_TRIGGER: Record<BackupTrigger, string> = {
  manual: 'made by hand',
  schedule: 'by schedule',
  upgrade: 'before an upgrade',
}

/** How the status of a backup reads: one without the copy that it should have is no full success. */
export function backupLook({ status, sha256, error }: Backup): Presentation {
  if (status === 'running' && sha256 !== null) return { label: 'Copying to the bucket', tone: 'progress' }
  if (status === 'succeeded' && error !== null) return { label: 'Here only', tone: 'warning' }
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

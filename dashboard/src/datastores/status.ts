import type { Datastore, DatastoreStatus } from '../api/types.ts'
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

export type DatastoreAction = 'backUp' | 'replace' | 'upgrade' | 'change'

/** The statuses in which each action is possible. */
const POSSIBLE: Record<DatastoreAction, readonly DatastoreStatus[]> = {
  backUp: ['available'],
  replace: ['available', 'unavailable'],
  upgrade: ['available'],
  change: ['creating', 'available', 'unavailable', 'upgrading', 'restoring', 'failed'],
}

/** Why an action cannot be done now; null when it can. */
export function obstacle({ status }: Pick<Datastore, 'status'>, action: DatastoreAction): string | null {
  if (POSSIBLE[action].includes(status)) return null
  return `The datastore is ${DATASTORE_STATUS[status].label.toLowerCase()}`
}

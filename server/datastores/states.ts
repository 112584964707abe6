import { defineMachine } from '../state-machine.ts'

export const DATASTORE_STATUSES = [
  'creating',
  'available',
  'unavailable',
  'upgrading',
  'restoring',
  'failed',
  'deleting',
] as const
export type DatastoreStatus = (typeof DATASTORE_STATUSES)[number]

/**
 * The status changes of a datastore. `creating` has not answered a client yet, `unavailable` no longer does, and `failed`
 * could not be created and is tried again. `restoring` and `upgrading` last until the new data is in use, or the old data
 * is again. After a restart of the server each datastore is compared with its container, whatever its status.
 */
export const datastoreMachine = defineMachine<DatastoreStatus>({
  table: 'datastores',
  moves: {
    creating: ['available', 'failed', 'deleting'],
    available: ['unavailable', 'restoring', 'upgrading', 'deleting'],
    unavailable: ['available', 'restoring', 'deleting'],
    upgrading: ['available', 'unavailable', 'deleting'],
    restoring: ['available', 'unavailable', 'failed', 'deleting'],
    failed: ['creating', 'deleting'],
    deleting: [],
  },
})

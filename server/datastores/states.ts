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
 * The moves of a datastore. `creating` has not answered a client yet, `unavailable` does not any more, `failed` could
 * not be made and is tried again. `restoring` and `upgrading` last until the data that takes the place of the old serves,
 * or the old serves on. After a restart of the server each is compared with its container, whatever its status.
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

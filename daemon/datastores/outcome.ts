import { announceDatastore } from '#server/changes.ts'
import {
  getDatastore,
  observeDatastore,
  recordDatastore,
  type DatastoreRow,
} from '#server/datastores/store.ts'
import { logger } from '#server/log.ts'
import { passEnded } from '../work/settled.ts'
import { endWait, isEmpty } from './waiting.ts'

const log = logger('datastores')

/** Records that a pass over a datastore has ended, and why it failed; null if it did not. */
export function recordPass(row: DatastoreRow, error: string | null): void {
  observeDatastore(row.id, row.generation, error)
  passEnded(row.id)
}

/**
 * Records why a pass failed. A datastore that was never available becomes `failed`; for others the health check finds out
 * whether they still answer.
 */
export function recordFailure(id: string, reason: string): void {
  const row = getDatastore(id)
  if (!row) return
  const isNew = row.apply_error !== reason
  const failed = endWait(row, reason)
  const isDown = row.status === 'failed' || row.status === 'unavailable'
  const isNews = isDown && !isEmpty(row) && row.error !== reason
  if (isNews) recordDatastore(id, { error: reason })
  recordPass(row, reason)
  if (isNew)
    log.warn('a datastore could not be brought into its desired state', { datastore: id, error: reason })
  if (failed || isNews) announceDatastore(id)
}

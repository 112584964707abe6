import { getRestoreOrUpgrade } from '#server/datastores/restores-and-upgrades-store.ts'
import { datastoreMachine } from '#server/datastores/states.ts'
import type { DatastoreRow } from '#server/datastores/store.ts'
import { tryMove } from '#server/state-machine.ts'

/** Whether a datastore has no data yet because its first restore is pending or failed. It is never started empty. */
export function isEmpty({ id }: DatastoreRow): boolean {
  return getRestoreOrUpgrade(id)?.kind === 'first'
}

/** Whether the next answer of a datastore's program makes it available: not while a restore or upgrade is to replace it. */
export function isAwaited(row: DatastoreRow): boolean {
  if (row.status === 'available' || row.status === 'deleting') return false
  return getRestoreOrUpgrade(row.id) === undefined
}

/** Records that the answer did not come. Returns whether that changed the status. */
export function endWait(row: DatastoreRow, reason: string): boolean {
  if (!isAwaited(row)) return false
  if (row.status === 'creating') return tryMove(datastoreMachine, row.id, 'failed', { error: reason })
  const wasReplaced = row.status === 'restoring' || row.status === 'upgrading'
  return wasReplaced && tryMove(datastoreMachine, row.id, 'unavailable', { error: reason })
}

import type { DatastoreRow } from '#server/datastores/store.ts'
import { loadEnvironment } from '#server/environments/store.ts'
import { ownNodeId } from '#server/nodes/store.ts'
import { overlayAddress } from '#server/environments/overlay.ts'

/** Whether a datastore runs on another node than the server's own. */
export function isElsewhere({ node_id }: Pick<DatastoreRow, 'node_id'>): boolean {
  return node_id !== ownNodeId()
}

/**
 * The address of a datastore's container: that in its environment's network or, on another node, the one at the same offset of
 * the overlay. Null until its program was started.
 */
export function homeOf(row: Pick<DatastoreRow, 'node_id' | 'address' | 'environment_id'>): string | null {
  if (row.address === null || !isElsewhere(row)) return row.address
  const environment = loadEnvironment(row.environment_id)
  return environment.overlay_subnet === null ? null : overlayAddress(environment, row.address)
}

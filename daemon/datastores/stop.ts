import { getDatastore, type DatastoreRow } from '#server/datastores/store.ts'
import type { World } from '../world.ts'

/** A database writes what it has in memory to its files before it ends. */
export const CHECKPOINT_SECONDS = 120

/**
 * Whether a datastore's program may forget that it was asked to end, as the shell does with which the images of databases
 * begin. A key-value store may take a second request for an order.
 */
export function isForgetful(row: Pick<DatastoreRow, 'kind'> | undefined): boolean {
  return row?.kind === 'relational'
}

/** Stops a datastore's container in its own time and removes it; what it keeps is in its volume. */
export async function stopDatastore({ engine }: World, id: string): Promise<void> {
  if ((await engine.containers.inspect(id)) === null) return
  await engine.containers.stop(id, CHECKPOINT_SECONDS, { again: isForgetful(getDatastore(id)) })
  await engine.containers.remove(id)
}

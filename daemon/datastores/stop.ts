import type { DatastoreRow } from '#server/datastores/store.ts'
import type { Engine } from '../engine/index.ts'
import type { World } from '../world.ts'

/** A database writes what it has in memory to its files before it ends. */
export const CHECKPOINT_SECONDS = 120

/** Stops a datastore's container in its own time and removes it; what it keeps is in its volume. */
export async function stopDatastore({ engine }: World, row: DatastoreRow): Promise<void> {
  if ((await engine.containers.inspect(row.id)) === null) return
  await endProgram(engine, row, row.id, CHECKPOINT_SECONDS)
  await engine.containers.remove(row.id)
}

/**
 * Ends the program of a container with the image of a datastore. The shell with which the images of databases begin may
 * forget that it was asked; a key-value store may take a second request for an order.
 */
export async function endProgram(
  { containers }: Engine,
  { kind }: Pick<DatastoreRow, 'kind'>,
  container: string,
  graceSeconds: number,
): Promise<void> {
  await containers.stop(container, graceSeconds, { again: kind === 'relational' })
}

import type { DatastoreRow } from '#server/datastores/store.ts'
import type { Engine } from '../engine/index.ts'
import type { World } from '../world.ts'

/** A database writes its memory to its files before it ends. */
export const CHECKPOINT_SECONDS = 120

/** Stops a datastore's container gracefully and removes it; its data is in the volume. */
export async function stopDatastore(world: World, row: DatastoreRow): Promise<void> {
  const engine = world.engineOf(row.node_id)
  if ((await engine.containers.inspect(row.id)) === null) return
  await endProgram(engine, row, row.id, CHECKPOINT_SECONDS)
  await engine.containers.remove(row.id)
}

/**
 * Ends the program of a datastore's container. The shell that starts PostgreSQL in its images may miss the signal, so it is
 * sent again; a key-value store may take a second signal as an order to exit at once.
 */
export async function endProgram(
  { containers }: Engine,
  { kind }: Pick<DatastoreRow, 'kind'>,
  container: string,
  graceSeconds: number,
): Promise<void> {
  await containers.stop(container, graceSeconds, { again: kind === 'relational' })
}

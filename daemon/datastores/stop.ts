import type { World } from '../world.ts'

/** A database writes what it has in memory to its files before it ends. */
export const CHECKPOINT_SECONDS = 120

/** Stops a datastore's container in its own time and removes it; what it keeps is in its volume. */
export async function stopDatastore({ engine }: World, id: string): Promise<void> {
  if ((await engine.containers.inspect(id)) === null) return
  await engine.containers.stop(id, CHECKPOINT_SECONDS, { again: true })
  await engine.containers.remove(id)
}

import { deleteDatastoreRow, type DatastoreRow } from '#server/datastores/store.ts'
import { releaseAddress } from '#server/instances/addresses.ts'
import type { World } from '../world.ts'

/** What goes needs no checkpoint, only the time to let go of its files. */
const STOP_GRACE_SECONDS = 10

/** Removes a datastore's container and its data, then its record. Missing parts do not matter. Throws `runtime_error`. */
export async function removeDatastore(world: World, row: DatastoreRow): Promise<void> {
  const { containers, volumes } = world.engine
  if ((await containers.inspect(row.id)) !== null) {
    await containers.stop(row.id, STOP_GRACE_SECONDS)
    await containers.remove(row.id)
  }
  await volumes.remove(row.volume)
  releaseAddress(row.id)
  deleteDatastoreRow(row.id)
  await world.dataPlane.sync()
}

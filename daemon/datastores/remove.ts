import { removeBackupsOf } from '#server/backups/operations.ts'
import { spareVolumesOf } from '#server/backups/spare-volumes.ts'
import { forgetDiskBytes } from '#server/datastores/disk-use.ts'
import { getRestoreOrUpgrade, giveUpVolume } from '#server/datastores/restores-and-upgrades-store.ts'
import { deleteDatastoreRow, type DatastoreRow } from '#server/datastores/store.ts'
import { releaseAddress } from '#server/instances/addresses.ts'
import { removeServiceLog } from '#server/logs/service-logs.ts'
import { forgetMove } from '#server/moves/store.ts'
import { engineIfAny } from '../nodes/presence.ts'
import type { World } from '../world.ts'
import { removeSpareVolumes } from '../backups/spare-volumes.ts'
import { endProgram } from './stop.ts'
import { removeStrayWork } from './tool.ts'

/** A datastore that is deleted needs no checkpoint, only time to close its files. */
const STOP_GRACE_SECONDS = 10

/** Removes a datastore's container, data and backups, then its record. Missing parts are skipped. Throws `runtime_error`. */
export async function removeDatastore(world: World, row: DatastoreRow): Promise<void> {
  const engine = engineIfAny(world, row.node_id)
  if (engine) {
    await endProgram(engine, row, row.id, STOP_GRACE_SECONDS)
    // Even if there is none: this also deletes what is recorded about it.
    await engine.containers.remove(row.id)
  }
  // Containers that a killed server left behind still use its volumes.
  await removeStrayWork(world, (name) => !name.startsWith(row.id))
  await engine?.volumes.remove(row.volume)
  const filling = getRestoreOrUpgrade(row.id)
  if (filling) giveUpVolume(filling.volume, row.id)
  await removeSpareVolumes(world, spareVolumesOf(row.id))
  await removeBackupsOf(row.id)
  forgetMove(row.id)
  releaseAddress(row.id)
  deleteDatastoreRow(row.id)
  forgetDiskBytes(row.id)
  await removeServiceLog(row.id)
  await world.dataPlane.sync()
}

import { announceDatastore, announceService } from '#server/changes.ts'
import { getDatastore } from '#server/datastores/store.ts'
import { forgetSpareVolume, type SpareVolume } from '#server/backups/spare-volumes.ts'
import { getService } from '#server/services/store.ts'
import { answerOf, engineIfAny } from '../nodes/presence.ts'
import type { World } from '../world.ts'

/** Removes volumes that no datastore and no disk uses any more. Throws `runtime_error`. */
export async function removeSpareVolumes(world: World, spares: SpareVolume[]): Promise<void> {
  for (const { volume, node_id, datastore_id, service_id } of spares) {
    const engine = engineIfAny(world, node_id)
    if (engine) await answerOf(node_id, engine.volumes.remove(volume))
    forgetSpareVolume(volume)
    if (datastore_id !== null && getDatastore(datastore_id)) announceDatastore(datastore_id)
    if (service_id !== null && getService(service_id)) announceService(service_id)
  }
}

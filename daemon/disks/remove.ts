import { removeBackupsOf } from '#server/backups/operations.ts'
import { spareVolumesOf } from '#server/backups/spare-volumes.ts'
import { getDiskRestore } from '#server/disks/restores-store.ts'
import { diskVolumesOf, nodeOfDisks } from '#server/disks/volume.ts'
import { endServiceMove } from '#server/moves/services.ts'
import { forgetMove, runningMove } from '#server/moves/store.ts'
import type { ServiceRow } from '#server/services/store.ts'
import { removeSpareVolumes } from '../backups/spare-volumes.ts'
import { engineIfAny } from '../nodes/presence.ts'
import type { World } from '../world.ts'

/** Removes all disks of a service that is being deleted, and their backups. Missing parts are skipped. Throws `runtime_error`. */
export async function removeDisks(world: World, service: ServiceRow): Promise<void> {
  const volumes = engineIfAny(world, nodeOfDisks(service))?.volumes
  const restore = getDiskRestore(service.id)
  if (restore?.status === 'running') await volumes?.remove(restore.volume)
  const move = runningMove(service.id)
  if (move) endServiceMove(move, 'canceled')
  await removeSpareVolumes(world, spareVolumesOf(service.id))
  for (const volume of diskVolumesOf(service.id)) await volumes?.remove(volume)
  forgetMove(service.id)
  await removeBackupsOf(service.id)
}

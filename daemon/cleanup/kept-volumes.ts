import { dueSpareVolumes } from '#server/backups/spare-volumes.ts'
import { removeSpareVolumes } from '../backups/spare-volumes.ts'
import { ownerName } from '../disk-use/names.ts'
import type { EngineUse } from '../engine/index.ts'
import type { World } from '../world.ts'
import type { Surplus } from './surplus.ts'

/** Volumes with data that a restore, an upgrade or a move replaced, once their time is over. */
export function surplusVolumes(world: World, use: () => Promise<EngineUse>): Surplus[] {
  return dueSpareVolumes().map((spare) => ({
    kind: 'kept_volumes',
    id: spare.volume,
    name: ownerName(spare.datastore_id ?? spare.service_id!),
    bytes: async () => (await use()).volumes.get(spare.volume) ?? 0,
    async remove() {
      await removeSpareVolumes(world, [spare])
      return true
    },
  }))
}

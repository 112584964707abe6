import { useDatabase } from '#server/context.ts'
import { readImageTag } from '../builds/tags.ts'
import type { EngineUse } from '../engine/index.ts'
import type { Tally } from './tally.ts'

/** What several images have in common, as one entry. */
export const SHARED_LAYERS = 'shared layers'

/** Counts what takes room in the engine. */
export function tallyEngine(tally: Tally, { images, sharedBytes, volumes, buildCache }: EngineUse): void {
  for (const { names, bytes } of images) tally.add('images', ownerOfImage(names), bytes)
  if (sharedBytes > 0) tally.add('images', SHARED_LAYERS, sharedBytes, 0)
  tally.add('build_cache', 'build_cache', buildCache.bytes, buildCache.records)
  const owners = volumeOwners()
  for (const [name, bytes] of volumes) {
    const disk = /^deployer-(srv-[0-9a-f]{20})/.exec(name)?.[1]
    if (owners.spare.has(name)) tally.add('kept_volumes', owners.spare.get(name)!, bytes)
    else if (disk !== undefined) tally.add('disks', disk, bytes)
    // A volume that belongs to nothing yet is being filled for a datastore.
    else tally.add('datastores', owners.data.get(name) ?? name, bytes)
  }
}

/** The service whose deploys keep an image, else the name under which it was pulled. */
function ownerOfImage(names: readonly string[]): string {
  const services = names.map((name) => readImageTag(name).serviceId)
  return services.find((id) => id.startsWith('srv-')) ?? names[0] ?? 'unnamed'
}

function volumeOwners(): { data: Map<string, string>; spare: Map<string, string> } {
  const ownersBy = (sql: string) =>
    new Map(
      useDatabase()
        .all<{ volume: string; owner: string }>(sql)
        .map(({ volume, owner }) => [volume, owner]),
    )
  return {
    data: ownersBy('SELECT volume, id AS owner FROM datastores'),
    spare: ownersBy('SELECT volume, coalesce(datastore_id, service_id) AS owner FROM spare_volumes'),
  }
}

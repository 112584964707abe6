import { fileSystems } from '../disk-use/file-systems.ts'
import type { World } from '../world.ts'
import type { Surplus } from './surplus.ts'

/** Limit of this server's part of the engine's build cache; on a small disk a tenth of the disk. */
const MAX_BYTES = 20 * 1024 ** 3
const MAX_SHARE = 0.1

/** What this server's part of the engine's build cache has beyond its limit. */
export async function surplusCache(world: World): Promise<Surplus[]> {
  const { data, engine } = await fileSystems(world)
  const maxBytes = Math.min(MAX_BYTES, Math.floor((engine ?? data).totalBytes * MAX_SHARE))
  const bytes = await world.engine.excessOfBuildCache(maxBytes)
  if (bytes === 0) return []
  return [
    {
      kind: 'build_cache',
      id: 'build_cache',
      name: 'build cache',
      bytes: async () => bytes,
      remove: async () => (await world.engine.shrinkBuildCache(maxBytes)) > 0,
    },
  ]
}

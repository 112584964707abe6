import { basename } from 'node:path'
import { useContext } from '#server/context.ts'
import { sizeOf } from '#server/disk-use/sizes.ts'
import { mirrorNames } from '../disk-use/mirror-names.ts'
import { mirrorsFolder } from '../sources/branches.ts'
import { removeSurplusMirror, surplusMirrors as surplusOf } from '../sources/mirrors.ts'
import type { Surplus } from './surplus.ts'

/** Mirrors of repositories, and trees in them, beyond their limits. */
export async function surplusMirrors(): Promise<Surplus[]> {
  const names = mirrorNames()
  const found = await surplusOf(mirrorsFolder(useContext().options.dataDirectory))
  return found.map((surplus) => {
    const id = basename(surplus.mirror)
    return {
      kind: 'mirrors',
      id,
      name: names.get(id) ?? id,
      bytes: async () => (await sizeOf(surplus.path)).bytes,
      remove: () => removeSurplusMirror(surplus),
    }
  })
}

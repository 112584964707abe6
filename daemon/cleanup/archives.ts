import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { useContext, useDatabase } from '#server/context.ts'
import { IN_PROGRESS_SQL } from '#server/deploys/states.ts'
import { keptArchives } from '#server/deploys/store.ts'
import { sizeOf } from '#server/disk-use/sizes.ts'
import { ownerName, serviceOfRun } from '../disk-use/names.ts'
import type { Surplus } from './surplus.ts'

/** An archive is received before its deploy is recorded; if there is no record after this long, the upload was cut off. */
const UNRECORDED_MS = 10 * 60_000

/** Archives that no deploy will build again. */
export async function surplusArchives(): Promise<Surplus[]> {
  const folder = join(useContext().options.dataDirectory, 'archives')
  const found: Surplus[] = []
  for (const name of await readdir(folder)) {
    const id = /^(dep-[0-9a-f]{20})\.tar\.gz$/.exec(name)?.[1]
    const path = join(folder, name)
    if (id === undefined || isNeeded(id)) continue
    const service = serviceOfRun(id)
    if (service === null && !(await isOld(path))) continue
    found.push({
      kind: 'archives',
      id,
      name: service === null ? id : ownerName(service),
      bytes: async () => (await sizeOf(path)).bytes,
      async remove() {
        // Its deploy may have been recorded, or another one may build it again.
        if (serviceOfRun(id) !== service || isNeeded(id)) return false
        await rm(path, { force: true })
        return true
      },
    })
  }
  return found
}

function isNeeded(id: string): boolean {
  const service = serviceOfRun(id)
  if (service !== null && keptArchives(service).has(id)) return true
  const building = useDatabase().get(
    `SELECT 1 FROM deploys WHERE archive_id = ? AND status IN (${IN_PROGRESS_SQL})`,
    id,
  )
  return building !== undefined
}

async function isOld(path: string): Promise<boolean> {
  const facts = await stat(path).catch(() => null)
  return facts !== null && Date.now() - facts.mtimeMs > UNRECORDED_MS
}

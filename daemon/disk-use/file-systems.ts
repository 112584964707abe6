import { useContext } from '#server/context.ts'
import { readFileSystems, type FileSystems } from '#server/disk-use/file-systems.ts'
import type { World } from '../world.ts'

/** Where the engine keeps its data, and how often it had gone away when it said so. */
let known: { root: string; departures: number } | null = null

/** The file systems of the data directory and of the engine, as they are now. Throws if the first cannot be read. */
export async function fileSystems(world: World): Promise<FileSystems> {
  return readFileSystems(useContext().options, await engineRoot(world))
}

/** The engine's folder; asked once after each start of the engine. Null until it has answered. */
async function engineRoot({ engine, engineDepartures, reachByAddress }: World): Promise<string | null> {
  if (known?.departures !== engineDepartures && reachByAddress !== null) {
    const info = await engine.info().catch(() => null)
    if (info) known = { root: info.dataRoot, departures: engineDepartures }
  }
  return known?.root || null
}

import { KINDS, type Place } from '#server/datastores/kinds.ts'
import { getDatastore, type DatastoreRow } from '#server/datastores/store.ts'
import { internalPlace } from '#server/datastores/view.ts'
import { AppError } from '#server/errors.ts'
import type { Dump } from '../backups/making.ts'
import { DUMP_PROGRAMS } from './dump-programs.ts'
import { homeOf } from './home.ts'
import { imageOf } from './image.ts'
import { runTool } from './tool.ts'

/** Dumps a datastore with the program of its own image. */
export const dumpDatastore: Dump = async (world, backup, write, signal) => {
  const row = getDatastore(backup.datastore_id!)
  if (!row) throw new AppError('runtime_error', 'the datastore is gone')
  const imageId = await imageOf(world, row, signal)
  const place = placeInNetwork(row)
  const { dump, env } = DUMP_PROGRAMS[row.kind]
  const tool = { name: backup.id, imageId, entrypoint: dump(place), env: env(place) }
  await runTool(world, row, tool, (streams) => write(streams.output()), signal)
}

/** Where a backup or restore reaches a datastore: by address, because its name would need the resolver. */
export function placeInNetwork(row: DatastoreRow): Place {
  const host = homeOf(row)
  if (host === null)
    throw new AppError('runtime_error', `the ${KINDS[row.kind].label} ${row.name} has no address yet`)
  return { ...internalPlace(row), host }
}

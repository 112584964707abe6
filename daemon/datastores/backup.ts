import { keepBackupPart, removeBackupFiles, writeBackupPart, type BackupFile } from '#server/backups/files.ts'
import type { BackupRow } from '#server/backups/store.ts'
import { KINDS, type Place } from '#server/datastores/kinds.ts'
import type { DatastoreRow } from '#server/datastores/store.ts'
import { internalPlace } from '#server/datastores/view.ts'
import { AppError } from '#server/errors.ts'
import type { World } from '../world.ts'
import { DUMP_PROGRAMS } from './dump-programs.ts'
import { imageOf } from './image.ts'
import { runTool } from './tool.ts'

/**
 * Dumps a datastore into the file of a backup. Leaves nothing behind when it fails. Throws `runtime_error` or `io_error`
 * with the reason, or the signal's.
 */
export async function makeBackup(
  world: World,
  row: DatastoreRow,
  { id }: BackupRow,
  signal: AbortSignal,
): Promise<BackupFile> {
  const imageId = await imageOf(world.engine, row, signal)
  const place = placeInNetwork(row)
  const { dump, env } = DUMP_PROGRAMS[row.kind]
  try {
    let file: BackupFile | undefined
    const tool = { name: id, imageId, entrypoint: dump(place), env: env(place) }
    await runTool(
      world,
      row,
      tool,
      async (streams) => {
        file = await writeBackupPart(id, streams.output())
      },
      signal,
    )
    await keepBackupPart(id)
    return file!
  } catch (error) {
    await removeBackupFiles(id)
    throw error
  }
}

/** Where a backup or restore reaches a datastore: by address, because its name would need the resolver. */
export function placeInNetwork(row: DatastoreRow): Place {
  if (row.address === null)
    throw new AppError('runtime_error', `the ${KINDS[row.kind].label} ${row.name} has no address yet`)
  return { ...internalPlace(row), host: row.address }
}

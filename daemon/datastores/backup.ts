import { createHash } from 'node:crypto'
import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { backupPartPath, backupPath, removeBackupFiles } from '#server/backups/files.ts'
import type { BackupRow } from '#server/backups/store.ts'
import { KINDS, type Place } from '#server/datastores/kinds.ts'
import type { DatastoreRow } from '#server/datastores/store.ts'
import { internalPlace } from '#server/datastores/view.ts'
import { AppError } from '#server/errors.ts'
import { PRIVATE_FILE_MODE } from '#server/files.ts'
import type { World } from '../world.ts'
import { DUMP_PROGRAMS } from './dump-programs.ts'
import { imageOf } from './image.ts'
import { runTool } from './tool.ts'

/** What a finished backup is known by. */
export interface BackupFile {
  size_bytes: number
  sha256: string
}

/**
 * Dumps a datastore into the file of a backup, beside it first, so that a file of that name is always whole. Nothing of
 * it is left when it fails. Throws `runtime_error` or `io_error` with the reason, or the signal's.
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
        file = await writeFile(backupPartPath(id), streams.output())
      },
      signal,
    )
    await rename(backupPartPath(id), backupPath(id))
    await syncFolder(dirname(backupPath(id)))
    return file!
  } catch (error) {
    await removeBackupFiles(id)
    throw readable(error)
  }
}

/** Its own name leads there only while names are answered; its address does not change. */
function placeInNetwork(row: DatastoreRow): Place {
  if (row.address === null)
    throw new AppError('runtime_error', `the ${KINDS[row.kind].label} ${row.name} has no address yet`)
  return { ...internalPlace(row), host: row.address }
}

async function writeFile(path: string, chunks: AsyncIterable<Buffer>): Promise<BackupFile> {
  const file = await open(path, 'w', PRIVATE_FILE_MODE)
  try {
    const hash = createHash('sha256')
    let size = 0
    for await (const chunk of chunks) {
      hash.update(chunk)
      for (let written = 0; written < chunk.length;)
        written += (await file.write(chunk, written)).bytesWritten
      size += chunk.length
    }
    await file.sync()
    return { size_bytes: size, sha256: hash.digest('hex') }
  } finally {
    await file.close()
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** What the disk says, for a person. */
function readable(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new AppError('io_error', "the disk of the server's data directory is full: free some space", {
      cause: error,
    })
  return error
}

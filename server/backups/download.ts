import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { useContext } from '../context.ts'
import { KINDS } from '../datastores/kinds.ts'
import type { DatastoreRow } from '../datastores/store.ts'
import { AppError } from '../errors.ts'
import { useBucket } from './bucket.ts'
import { backupPath, hasBackupFile } from './files.ts'
import type { BackupRow } from './store.ts'

/** What a client gets, and what it is told of it. */
export interface Download {
  stream: Readable
  size: number
  /** Of characters that need no escape. */
  name: string
}

/**
 * Opens the file of a backup, or its copy in the bucket when that is gone. Throws `conflict` when there was never one,
 * `io_error` when what is there is not what was written.
 */
export async function openBackup(datastore: DatastoreRow, backup: BackupRow): Promise<Download> {
  if (backup.sha256 === null)
    throw new AppError('conflict', `the backup ${backup.id} is ${backup.status}: it has no file`)
  const isHere = hasBackupFile(backup.id) || backup.object_url === null
  const { stream, size } = await (isHere ? openFile(backup) : openCopy(backup, useContext().stopping))
  if (size === backup.size_bytes) return { stream, size, name: downloadName(datastore, backup) }
  stream.destroy()
  throw new AppError(
    'io_error',
    `the ${isHere ? 'file' : 'copy'} of the backup ${backup.id} has ${size} bytes where ${backup.size_bytes} were written: it was changed from outside`,
  )
}

/** Opens the copy of a backup in the bucket. Throws `io_error`. */
export async function openCopy(
  { id, object_url: url }: BackupRow,
  signal: AbortSignal,
): Promise<{ stream: Readable; size: number }> {
  const bucket = useBucket()
  if (url === null || !bucket?.holds(url))
    throw new AppError(
      'io_error',
      `the copy of the backup ${id} at ${url} cannot be had: start the server with that --backup-s3-url`,
    )
  try {
    return await bucket.get(url, signal)
  } catch (cause) {
    if (!(cause instanceof AppError) || cause.code !== 'not_found') throw cause
    throw new AppError('io_error', `the copy of the backup ${id} is gone from ${url}`, { cause })
  }
}

/** How the file of a backup is called where people keep it. */
export function downloadName({ name, kind }: DatastoreRow, backup: BackupRow): string {
  const moment = new Date(backup.created_at).toISOString().slice(0, 19).replaceAll(':', '')
  return `${name}-${moment}Z.${KINDS[kind].backupExtension}`
}

async function openFile({ id }: BackupRow): Promise<{ stream: Readable; size: number }> {
  const file = await open(backupPath(id)).catch((cause: unknown) => {
    throw new AppError('io_error', `the file of the backup ${id} is gone from the data directory`, { cause })
  })
  return { stream: file.createReadStream(), size: (await file.stat()).size }
}

import { open, type FileHandle } from 'node:fs/promises'
import { KINDS } from '../datastores/kinds.ts'
import type { DatastoreRow } from '../datastores/store.ts'
import { AppError } from '../errors.ts'
import { backupPath } from './files.ts'
import type { BackupRow } from './store.ts'

/** An open file and what a client is told of it. */
export interface Download {
  file: FileHandle
  size: number
  /** Of characters that need no escape. */
  name: string
}

/** Opens the file of a backup. Throws `conflict` when it did not succeed, `io_error` when its file is not what was written. */
export async function openBackup(datastore: DatastoreRow, backup: BackupRow): Promise<Download> {
  if (backup.status !== 'succeeded')
    throw new AppError('conflict', `the backup ${backup.id} is ${backup.status}: it has no file`)
  const file = await open(backupPath(backup.id)).catch((cause: unknown) => {
    throw new AppError('io_error', `the file of the backup ${backup.id} is gone from the data directory`, {
      cause,
    })
  })
  const { size } = await file.stat()
  if (size !== backup.size_bytes) {
    await file.close()
    throw new AppError(
      'io_error',
      `the file of the backup ${backup.id} has ${size} bytes where ${backup.size_bytes} were written: it was changed from outside`,
    )
  }
  const moment = new Date(backup.created_at).toISOString().slice(0, 19).replaceAll(':', '')
  return { file, size, name: `${datastore.name}-${moment}Z.${KINDS[datastore.kind].backupExtension}` }
}

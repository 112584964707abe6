import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { backupPath } from '#server/backups/files.ts'
import type { BackupRow } from '#server/backups/store.ts'
import { KINDS, type DatastoreKind } from '#server/datastores/kinds.ts'
import { AppError } from '#server/errors.ts'
import { DUMP_PROGRAMS } from './dump-programs.ts'

/** Longer than what any kind begins its dumps with. */
const MAGIC_BYTES = 16

/** Throws `io_error` when the file of a backup is not the one that was written, or not one of this kind. */
export async function checkBackup(
  kind: DatastoreKind,
  backup: BackupRow,
  signal: AbortSignal,
): Promise<void> {
  const hash = createHash('sha256')
  let size = 0
  let head = Buffer.alloc(0)
  try {
    for await (const chunk of createReadStream(backupPath(backup.id), { signal }) as AsyncIterable<Buffer>) {
      if (head.length < MAGIC_BYTES) head = Buffer.concat([head, chunk.subarray(0, MAGIC_BYTES)])
      hash.update(chunk)
      size += chunk.length
    }
  } catch (cause) {
    signal.throwIfAborted()
    throw damaged(backup, 'cannot be read', cause)
  }
  if (!DUMP_PROGRAMS[kind].magic.test(head.toString('latin1')))
    throw damaged(backup, `is not of a ${KINDS[kind].label}`)
  if (size !== backup.size_bytes)
    throw damaged(backup, `has ${size} bytes where ${backup.size_bytes} were written`)
  if (hash.digest('hex') !== backup.sha256)
    throw damaged(backup, 'has another checksum than when it was written')
}

function damaged({ id }: BackupRow, how: string, cause?: unknown): AppError {
  return new AppError('io_error', `the file of the backup ${id} ${how}: restore another backup`, { cause })
}

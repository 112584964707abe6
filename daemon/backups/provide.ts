import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { openCopy } from '#server/backups/download.ts'
import { backupPath, keepBackupPart, removeBackupPart, writeBackupPart } from '#server/backups/files.ts'
import type { BackupRow } from '#server/backups/store.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'

const log = logger('backups')

/** How a file of a kind of backup begins, in latin1, and what it is then. */
export interface Form {
  magic: RegExp
  label: string
}

/** Enough bytes for the magic of any form. */
const MAGIC_BYTES = 16

/**
 * Makes sure that the file of a backup is here and intact; otherwise fetches its copy from the bucket. Throws `io_error` if
 * neither is usable.
 */
export async function provideFile(form: Form, backup: BackupRow, signal: AbortSignal): Promise<void> {
  try {
    await checkFile(form, backup, signal)
  } catch (fault) {
    signal.throwIfAborted()
    if (backup.object_url === null) throw fault
    log.info('fetching a backup from its bucket', { backup: backup.id, reason: messageOf(fault) })
    await fetchCopy(backup, signal)
    await checkFile(form, backup, signal)
  }
}

async function fetchCopy(backup: BackupRow, signal: AbortSignal): Promise<void> {
  const { size, stream } = await openCopy(backup, signal)
  try {
    // Not every store sends the size in advance.
    if (!Number.isNaN(size)) assertSize(backup, size)
    const { size_bytes, sha256 } = await writeBackupPart(backup.id, piecesOf(backup, stream))
    assertSize(backup, size_bytes)
    if (sha256 !== backup.sha256)
      throw new AppError(
        'io_error',
        `the copy at ${backup.object_url} has a different checksum than its backup`,
      )
    await keepBackupPart(backup.id)
  } finally {
    stream.destroy()
    await removeBackupPart(backup.id)
  }
}

/** Yields what a bucket sends of a copy, and no more than was written. Throws `io_error` when the connection breaks off. */
async function* piecesOf(backup: BackupRow, stream: Readable): AsyncGenerator<Buffer, void> {
  const written = backup.size_bytes!
  let size = 0
  try {
    for await (const piece of stream as AsyncIterable<Buffer>) {
      size += piece.length
      if (size > written) assertSize(backup, size)
      yield piece
    }
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    const how = `broke off after ${size} of ${written} bytes (${messageOf(cause)})`
    throw new AppError('io_error', `the download of ${backup.object_url} ${how}: restore again`, { cause })
  }
}

function assertSize({ object_url, size_bytes }: BackupRow, size: number): void {
  if (size === size_bytes) return
  const what = `the copy at ${object_url} has ${size} bytes where ${size_bytes} were written`
  throw new AppError('io_error', `${what}: restore another backup`)
}

async function checkFile(form: Form, backup: BackupRow, signal: AbortSignal): Promise<void> {
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
  if (!form.magic.test(head.toString('latin1'))) throw damaged(backup, `is not ${form.label}`)
  if (size !== backup.size_bytes)
    throw damaged(backup, `has ${size} bytes where ${backup.size_bytes} were written`)
  if (hash.digest('hex') !== backup.sha256)
    throw damaged(backup, 'has a different checksum than when it was written')
}

function damaged({ id }: BackupRow, how: string, cause?: unknown): AppError {
  return new AppError('io_error', `the file of the backup ${id} ${how}: restore another backup`, { cause })
}

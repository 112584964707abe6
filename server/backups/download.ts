import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { useContext } from '../context.ts'
import { AppError } from '../errors.ts'
import { DISK } from '../disks/states.ts'
import type { ByteRange, Download } from '../http/file.ts'
import { partOf, useBucket, type Bucket } from './bucket.ts'
import { backupPath, hasBackupFile } from './files.ts'
import { findOwner } from './owners.ts'
import { unseal } from './sealing.ts'
import type { BackupRow } from './store.ts'

/** A part of what is stored, and the size of the whole. */
interface Opened {
  stream: Readable
  size: number
}

/**
 * The file of a backup, or its copy in the bucket if the file is gone. Throws `conflict` when there never was one; opening
 * it throws `io_error` when it is not what was written.
 */
export function downloadOf(backup: BackupRow): Download {
  const { id, sha256, size_bytes: size } = backup
  if (sha256 === null || size === null)
    throw new AppError('conflict', `the backup ${id} is ${backup.status}: it has no file`)
  return {
    size,
    name: downloadName(backup),
    etag: `"${sha256}"`,
    modifiedAt: backup.finished_at ?? backup.created_at,
    async open(range) {
      const isHere = hasBackupFile(id) || backup.object_url === null
      const opened = await (isHere ? openFile(backup, range) : openCopy(backup, useContext().stopping, range))
      // Not every store reports the size of a copy.
      if (opened.size === size || Number.isNaN(opened.size)) return opened.stream
      opened.stream.destroy()
      throw new AppError(
        'io_error',
        `the ${isHere ? 'file' : 'copy'} of the backup ${id} has ${opened.size} bytes, but ${size} were written: something else changed it`,
      )
    },
  }
}

/** Opens the copy of a backup in the bucket, or a part of it, unsealed; `size` may be NaN. Throws `io_error`. */
export async function openCopy(
  { id, object_url: url, encrypted }: BackupRow,
  signal: AbortSignal,
  range: ByteRange | null = null,
): Promise<Opened> {
  const bucket = useBucket()
  if (url === null || !bucket?.holds(url))
    throw new AppError(
      'io_error',
      `the copy of the backup ${id} is at ${url}, which is not in the server's bucket: start the server with that --backup-s3-url`,
    )
  try {
    return await (encrypted ? getSealed(bucket, url, signal, range) : bucket.get(url, signal, range))
  } catch (cause) {
    if (!(cause instanceof AppError) || cause.code !== 'not_found') throw cause
    throw new AppError('io_error', `the copy of the backup ${id} is gone from ${url}`, { cause })
  }
}

/** Opens a sealed copy. For a part, what precedes it is read too, since its place in the sealed file is not known. */
async function getSealed(
  bucket: Bucket,
  url: string,
  signal: AbortSignal,
  range: ByteRange | null,
): Promise<Opened> {
  const { backupPassphrase } = useContext().options
  if (backupPassphrase === null)
    throw new AppError(
      'io_error',
      `the copy at ${url} is sealed: start the server with the --backup-passphrase-file that it was sealed with`,
    )
  const { stream } = await bucket.get(url, signal)
  const plain = Readable.from(unseal(stream, backupPassphrase), { objectMode: false })
  // If it is closed before anyone reads it, the generator never starts and so never closes the connection.
  plain.once('close', () => stream.destroy())
  return { stream: range ? partOf(plain, range) : plain, size: NaN }
}

/** The file name that people see when they download or copy a backup. */
export function downloadName(backup: BackupRow): string {
  const { name, extension } = findOwner(backup.owner_id, backup.disk)!
  const disk = backup.disk === null || backup.disk === DISK ? '' : `-${backup.disk}`
  const moment = new Date(backup.created_at).toISOString().slice(0, 19).replaceAll(':', '')
  return `${name}${disk}-${moment}Z.${extension}`
}

async function openFile({ id }: BackupRow, range: ByteRange | null): Promise<Opened> {
  const file = await open(backupPath(id)).catch((cause: unknown) => {
    throw new AppError('io_error', `the file of the backup ${id} is gone from the data directory`, { cause })
  })
  const part = range && { start: range.start, end: range.end - 1 }
  return { stream: file.createReadStream({ ...part }), size: (await file.stat()).size }
}

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { useBucket } from '../backups/bucket.ts'
import { useContext } from '../context.ts'
import { checkDatabase } from '../database/copy.ts'
import { AppError, messageOf } from '../errors.ts'
import { makePrivateDirectory, PRIVATE_FILE_MODE } from '../files.ts'
import { DamagedSeal } from '../backups/sealing.ts'
import { Slots } from '../work/slots.ts'
import { DATABASE_NAME } from './contents.ts'
import type { Manifest } from './manifest.ts'
import { databaseCopyPath, hasServerBackupFile, serverBackupFolder, serverBackupPath } from './files.ts'
import { recordVerification } from './operations.ts'
import { DamagedBackup, readServerBackup } from './read.ts'
import type { ServerBackupRow } from './store.ts'

/** How much is read at once. */
const PIECE_BYTES = 256 * 1024

/**
 * Reads a backup to its end, compares its digest, and opens its database, which is written to `databaseCopy` meanwhile.
 * Throws `io_error` with what is wrong.
 */
export async function checkServerBackup(
  stream: AsyncIterable<Uint8Array>,
  passphrase: string | null,
  databaseCopy: string,
): Promise<Manifest> {
  let hasDatabase = false
  try {
    const manifest = await readServerBackup(stream, passphrase, {
      manifest: () => Promise.resolve(),
      async entry({ name, pieces }) {
        if (name !== DATABASE_NAME) return
        hasDatabase = true
        await writeAll(databaseCopy, pieces)
      },
    })
    if (!hasDatabase) throw new DamagedBackup('the backup is damaged: it has no database')
    const { fault } = await checkDatabase(databaseCopy)
    if (fault !== null) throw new DamagedBackup(`the backup is damaged: its database: ${fault}`)
    return manifest
  } finally {
    await rm(databaseCopy, { force: true })
  }
}

/** One at a time: each takes room for a database and, if sealed, 128 MiB of memory. */
const turn = new Slots(1)
/** Checks in progress, by backup. */
const checks = new Map<string, Promise<ServerBackupRow>>()

/** Whether files of this backup are being read, and its database is written next to it. */
export function isBeingVerified(id: string): boolean {
  return checks.has(id)
}

/** Reads a backup of this server to its end, and records the result. Callers at the same time share one check. */
export function verifyServerBackup(row: ServerBackupRow): Promise<ServerBackupRow> {
  const { id } = row
  const check = checks.get(id) ?? turn.run(() => judge(row)).finally(() => checks.delete(id))
  checks.set(id, check)
  return check
}

async function judge(row: ServerBackupRow): Promise<ServerBackupRow> {
  const { options, stopping } = useContext()
  return recordVerification(row.id, await faultOf(row, options.backupPassphrase, stopping))
}

/**
 * Checks a backup of this server, in the data directory or else in the bucket. Returns what is wrong with it, or null. Throws
 * `conflict` when it cannot be judged here, and the signal's reason.
 */
async function faultOf(
  { id, sha256, size_bytes, encrypted, object_url }: ServerBackupRow,
  passphrase: string | null,
  signal: AbortSignal,
): Promise<string | null> {
  if (sha256 === null) throw new AppError('conflict', `the server backup ${id} has no file`)
  if (encrypted === 1 && passphrase === null)
    throw new AppError(
      'conflict',
      `the server backup ${id} is sealed: start the server with the --backup-passphrase-file that it was sealed with`,
    )
  const isHere = hasServerBackupFile(id)
  if (!isHere && object_url === null) return 'its file is gone from the data directory'
  const stream = isHere
    ? (createReadStream(serverBackupPath(id), {
        highWaterMark: PIECE_BYTES,
        signal,
      }) as AsyncIterable<Buffer>)
    : await copyOf(object_url!, signal)
  const hash = createHash('sha256')
  let size = 0
  let sourceFault: Error | null = null
  const counted = async function* (): AsyncGenerator<Uint8Array, void> {
    try {
      for await (const piece of stream) {
        hash.update(piece)
        size += piece.length
        yield piece
      }
    } catch (error) {
      sourceFault = error as Error
      throw error
    }
  }
  makePrivateDirectory(serverBackupFolder(useContext().options.dataDirectory))
  try {
    await checkServerBackup(counted(), passphrase, databaseCopyPath(id))
  } catch (error) {
    signal.throwIfAborted()
    // Only what was read says something about the backup; a full disk or a lost connection does not.
    const isOfBackup = error instanceof DamagedBackup || error instanceof DamagedSeal
    if (isOfBackup && sourceFault === null) return error.message
    const reason = messageOf(sourceFault ?? error)
    throw new AppError('io_error', `the backup ${id} could not be verified: ${reason}`, { cause: error })
  }
  if (size !== size_bytes) return `it has ${size} bytes where ${size_bytes} were written`
  return hash.digest('hex') === sha256 ? null : 'it has a different checksum than when it was written'
}

/** A store that cannot be reached says nothing about the copy: that is thrown. */
async function copyOf(url: string, signal: AbortSignal): Promise<AsyncIterable<Buffer>> {
  const bucket = useBucket()
  if (!bucket?.holds(url))
    throw new AppError('conflict', `its copy is at ${url}, which is not in the server's bucket`)
  return (await bucket.get(url, signal)).stream as AsyncIterable<Buffer>
}

async function writeAll(path: string, pieces: AsyncIterable<Buffer>): Promise<void> {
  const file = await open(path, 'w', PRIVATE_FILE_MODE)
  try {
    for await (const piece of pieces) await file.writeFile(piece)
  } finally {
    await file.close()
  }
}

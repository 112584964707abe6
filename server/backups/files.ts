import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { useContext } from '../context.ts'
import { AppError } from '../errors.ts'
import { makePrivateDirectory, PRIVATE_FILE_MODE } from '../files.ts'
import { getBackup, isBeingRestored } from './store.ts'

/** The suffix of a file that is being written. */
const PART = '.part'

/** The folder of all backups. */
function backupFolder(): string {
  return join(useContext().options.dataDirectory, 'backups')
}

/** The file of a backup that succeeded. */
export function backupPath(id: string): string {
  return join(backupFolder(), id)
}

/** Whether the file of a backup exists. */
export function hasBackupFile(id: string): boolean {
  return existsSync(backupPath(id))
}

/** The size and checksum of a backup's file. */
export interface BackupFile {
  size_bytes: number
  sha256: string
}

/**
 * Writes the file of a backup under a temporary name, so that a file with the final name is always complete;
 * `keepBackupPart` renames it. Throws what the stream throws, or `io_error`.
 */
export async function writeBackupPart(id: string, chunks: AsyncIterable<Buffer>): Promise<BackupFile> {
  makePrivateDirectory(backupFolder())
  try {
    const file = await open(partPath(id), 'w', PRIVATE_FILE_MODE)
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
  } catch (error) {
    throw readable(error)
  }
}

/** Gives the written file its final name, durably. */
export async function keepBackupPart(id: string): Promise<void> {
  await rename(partPath(id), backupPath(id))
  const folder = await open(backupFolder())
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Removes what was written under the temporary name. */
export async function removeBackupPart(id: string): Promise<void> {
  await rm(partPath(id), { force: true })
}

/** Removes a backup's file, complete or not. */
export async function removeBackupFiles(id: string): Promise<void> {
  await Promise.all([backupPath(id), partPath(id)].map((path) => rm(path, { force: true })))
}

/** Removes files that no record refers to, which can be left when the server is killed. */
export async function removeStrayBackupFiles(): Promise<void> {
  const names = await readdir(backupFolder()).catch(() => [])
  for (const name of names) {
    const id = /^(bak-[0-9a-f]{20})(?:\.part)?$/.exec(name)?.[1]
    if (id === undefined) continue
    const status = getBackup(id)?.status
    const isWanted = name.endsWith(PART)
      ? status === 'running' || isBeingRestored(id)
      : status === 'running' || status === 'succeeded'
    if (!isWanted) await rm(join(backupFolder(), name), { force: true })
  }
}

function partPath(id: string): string {
  return `${backupPath(id)}${PART}`
}

/** Turns an error of the disk into one that says what to do. */
function readable(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new AppError('io_error', "the disk of the server's data directory is full: free some space", {
      cause: error,
    })
  return error
}

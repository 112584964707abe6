import { createReadStream, existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { useContext } from '../context.ts'
import { keepPart, PART, writePart, type Written } from './part-file.ts'
import { seal } from './sealing.ts'
import { getBackup, isBeingRestored } from './store.ts'

/** The suffix of a sealed file, which exists while it is copied to the bucket. */
const SEALED = '.sealed'

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

/**
 * Writes the file of a backup under a temporary name; `keepBackupPart` renames it. Throws what the stream throws, or
 * `io_error`.
 */
export function writeBackupPart(id: string, chunks: AsyncIterable<Buffer>): Promise<Written> {
  return writePart(backupPath(id), chunks)
}

/** Gives the written file its final name, durably. */
export function keepBackupPart(id: string): Promise<void> {
  return keepPart(backupPath(id))
}

/**
 * Seals the file of a backup into another one for as long as `use` needs it: the store wants to know size and checksum
 * before it is sent. Throws `io_error`, what `use` throws, or the signal's reason.
 */
export async function withSealedFile(
  id: string,
  passphrase: string,
  signal: AbortSignal,
  use: (file: { path: string; size: number; sha256: string }) => Promise<void>,
): Promise<void> {
  // It never gets a final name, since it is not kept.
  const path = sealedPath(id)
  try {
    const plain = createReadStream(backupPath(id), { signal })
    const { size_bytes: size, sha256 } = await writePart(path, seal(plain, passphrase))
    await use({ path: `${path}${PART}`, size, sha256 })
  } finally {
    await rm(`${path}${PART}`, { force: true })
  }
}

/** Removes what was written under the temporary name. */
export async function removeBackupPart(id: string): Promise<void> {
  await rm(partPath(id), { force: true })
}

/** Removes a backup's file, complete or not, and sealed. */
export async function removeBackupFiles(id: string): Promise<void> {
  const paths = [backupPath(id), partPath(id), `${sealedPath(id)}${PART}`]
  await Promise.all(paths.map((path) => rm(path, { force: true })))
}

/** Removes files that no record refers to, which can be left when the server is killed. */
export async function removeStrayBackupFiles(): Promise<void> {
  const names = await readdir(backupFolder()).catch(() => [])
  for (const name of names) {
    const id = /^((?:bak|dbk)-[0-9a-f]{20})(?:\.sealed)?(?:\.part)?$/.exec(name)?.[1]
    if (id === undefined) continue
    if (!isWanted(id, name)) await rm(join(backupFolder(), name), { force: true })
  }
}

function isWanted(id: string, name: string): boolean {
  const backup = getBackup(id)
  const isWhole = backup?.status === 'running' || backup?.status === 'succeeded'
  if (name === `${id}${SEALED}${PART}`) return isWhole && backup.object_url === null
  return name.endsWith(PART) ? backup?.status === 'running' || isBeingRestored(id) : isWhole
}

function partPath(id: string): string {
  return `${backupPath(id)}${PART}`
}

function sealedPath(id: string): string {
  return `${backupPath(id)}${SEALED}`
}

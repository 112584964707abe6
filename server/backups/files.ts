import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { useContext } from '../context.ts'
import { makePrivateDirectory } from '../files.ts'
import { getBackup } from './store.ts'

/** Of a file that is being written. */
const PART = '.part'

/** The folder of all backups. */
function backupFolder(): string {
  return join(useContext().options.dataDirectory, 'backups')
}

/** The file of a backup that succeeded. */
export function backupPath(id: string): string {
  return join(backupFolder(), id)
}

/** The file of a backup under way, in a folder that is there then. */
export function backupPartPath(id: string): string {
  makePrivateDirectory(backupFolder())
  return `${backupPath(id)}${PART}`
}

/** Removes what there is of a backup's file. */
export async function removeBackupFiles(id: string): Promise<void> {
  await Promise.all([backupPath(id), `${backupPath(id)}${PART}`].map((path) => rm(path, { force: true })))
}

/** Removes files that no record wants, which a kill of the server can leave. */
export async function removeStrayBackupFiles(): Promise<void> {
  const names = await readdir(backupFolder()).catch(() => [])
  for (const name of names) {
    const id = /^(bak-[0-9a-f]{20})(?:\.part)?$/.exec(name)?.[1]
    if (id === undefined) continue
    const status = getBackup(id)?.status
    const isWanted = name.endsWith(PART) ? status === 'running' : status !== undefined
    if (!isWanted) await rm(join(backupFolder(), name), { force: true })
  }
}

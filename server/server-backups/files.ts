import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { PART } from '../backups/part-file.ts'
import { useContext } from '../context.ts'
import { getServerBackup } from './store.ts'

/** The suffix of the copy of the database from which a backup is made. */
const DATABASE = '.db'

/** The folder of server backups in a data directory. */
export function serverBackupFolder(dataDirectory: string): string {
  return join(dataDirectory, 'backups', 'server')
}

/** The file of a server backup. */
export function serverBackupPath(id: string): string {
  return join(serverBackupFolder(useContext().options.dataDirectory), id)
}

/** Where the database is copied to while a backup is made, or checked. */
export function databaseCopyPath(id: string): string {
  return `${serverBackupPath(id)}${DATABASE}`
}

export function hasServerBackupFile(id: string): boolean {
  return existsSync(serverBackupPath(id))
}

/** Removes a backup's file, complete or not. */
export async function removeServerBackupFiles(id: string): Promise<void> {
  const path = serverBackupPath(id)
  await Promise.all([path, `${path}${PART}`, `${path}${DATABASE}`].map((file) => rm(file, { force: true })))
}

/** Removes files that no record needs, which a killed server leaves. `isInUse` tells those that are being worked on. */
export async function removeStrayServerBackupFiles(isInUse: (id: string) => boolean): Promise<void> {
  const folder = serverBackupFolder(useContext().options.dataDirectory)
  for (const name of await readdir(folder).catch(() => [])) {
    // A command that backed the stopped server up, and was killed.
    if (/^stopped-\d+\.db/.test(name)) await rm(join(folder, name), { force: true })
    // A copy of the database has a log beside it for a moment, until it needs none.
    const [, id, suffix] = /^(sbk-[0-9a-f]{20})(\.part|\.db(?:-journal|-wal|-shm)?)?$/.exec(name) ?? []
    if (id === undefined || isInUse(id)) continue
    const row = getServerBackup(id)
    const isWanted = suffix === undefined && typeof row?.sha256 === 'string'
    if (!isWanted) await rm(join(folder, name), { force: true })
  }
}

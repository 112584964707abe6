import { mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { recordHostCommand } from '#server/audit/recording.ts'
import { openDatabase } from '#server/database/index.ts'
import { checkDatabase } from '#server/database/copy.ts'
import { assertRoom } from '#server/disk-use/file-systems.ts'
import { AppError } from '#server/errors.ts'
import { PRIVATE_DIRECTORY_MODE, PRIVATE_FILE_MODE } from '#server/files.ts'
import { otherManagersIn } from '#server/nodes/store.ts'
import { insertRestore } from '#server/restore/store.ts'
import { DATA_FOLDER, SETTINGS_NAME } from '#server/server-backups/contents.ts'
import type { Manifest } from '#server/server-backups/manifest.ts'
import { readServerBackup, type BackupEntry } from '#server/server-backups/read.ts'

/** More than the files themselves: their last blocks, and room for the server to start. */
const ROOM = 1.1
const MAX_SETTINGS_BYTES = 1024 * 1024

/** What a backup was unpacked to. */
export interface Unpacked {
  manifest: Manifest
  /** The text of the settings that `deployer install` had saved; null if there were none. */
  savedSettings: string | null
  /** The managers that it had on other machines, which may still be there. */
  managers: string[]
}

/**
 * Unpacks a backup into an empty folder, and marks its database as restored. Throws `io_error` when the backup is damaged, was
 * made by a newer server, or there is no room for it.
 */
export async function unpack(
  stream: AsyncIterable<Uint8Array>,
  passphrase: string | null,
  folder: string,
): Promise<Unpacked> {
  let savedSettings: string | null = null
  const manifest = await readServerBackup(stream, passphrase, {
    manifest: ({ bytes }) =>
      assertRoom(dirname(folder), Math.ceil(bytes * ROOM), 'the backup unpacked takes', 'free some space'),
    async entry(entry) {
      if (entry.name === SETTINGS_NAME) savedSettings = await settingsIn(entry)
      else await write(entry, join(folder, entry.name.slice(DATA_FOLDER.length + 1)))
    },
  })
  const file = join(folder, 'deployer.db')
  const { fault } = await checkDatabase(file)
  if (fault !== null) throw new AppError('io_error', `the backup is damaged: its database: ${fault}`)
  const database = await openDatabase(file)
  try {
    recordHostCommand(database, 'server.restored', null)
    insertRestore(database)
    return { manifest, savedSettings, managers: otherManagersIn(database) }
  } finally {
    await database.close()
  }
}

async function write({ name, isFolder, mode, mtime, pieces }: BackupEntry, path: string): Promise<void> {
  if (isFolder) return void (await mkdir(path, { recursive: true, mode: PRIVATE_DIRECTORY_MODE }))
  await mkdir(dirname(path), { recursive: true, mode: PRIVATE_DIRECTORY_MODE })
  const file = await open(path, 'wx', mode & PRIVATE_FILE_MODE)
  try {
    for await (const piece of pieces) await file.writeFile(piece)
    // Static sites are served with these times.
    await file.utimes(mtime, mtime)
    // A power cut after the swap must not leave it empty; logs and sites are many, and can be lost.
    if (!/^data\/(logs|sites)\//.test(name)) await file.sync()
  } finally {
    await file.close()
  }
}

async function settingsIn({ pieces, size }: BackupEntry): Promise<string> {
  if (size > MAX_SETTINGS_BYTES)
    throw new AppError('io_error', 'the backup is damaged: its settings are too large')
  const found: Buffer[] = []
  for await (const piece of pieces) found.push(piece)
  return Buffer.concat(found).toString()
}

import { type Dirent } from 'node:fs'
import { lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'

/** The first entry, which says what the others are. */
export const MANIFEST_NAME = 'deployer-backup.json'
/** The last entry, without which the file was cut short. */
export const END_NAME = 'deployer-backup-end.json'
/** Where the files of the data directory and the saved settings are. */
export const DATA_FOLDER = 'data'
export const SETTINGS_NAME = 'settings'
export const DATABASE_NAME = `${DATA_FOLDER}/deployer.db`

/** Files of the data directory beside the database. */
const FILES = ['secret.key', 'api_token', 'setup_code']
const FOLDERS = ['acme-accounts', 'certificates', 'ssh', 'archives', 'sites']
/** Logs of deploys and jobs; what services wrote is in a folder below. */
const LOGS = 'logs'
const BACKUPS = 'backups'

/** The name that the file of a backup of a datastore or a disk has. */
export function backupName(id: string): string {
  return `${DATA_FOLDER}/${BACKUPS}/${id}`
}

/** A file or folder of the data directory, and its name in a backup. */
export interface Item {
  name: string
  path: string
  isFolder: boolean
  /** In bytes, when it was listed; a log may have grown since. */
  size: number
}

/** What to take from a data directory. */
export interface Wanted {
  dataDirectory: string
  logs: boolean
  /** Names of files in `backups/`. */
  backups: readonly string[]
}

/** Lists what a backup of a data directory holds, without the database; folders before what is in them. */
export async function* listItems({ dataDirectory, logs, backups }: Wanted): AsyncGenerator<Item, void> {
  for (const name of FILES) yield* itemAt(dataDirectory, name)
  for (const name of FOLDERS) yield* walk(dataDirectory, name)
  if (logs) yield* filesOf(dataDirectory, LOGS)
  for (const name of backups) yield* itemAt(dataDirectory, `${BACKUPS}/${name}`)
}

async function* walk(root: string, name: string): AsyncGenerator<Item, void> {
  let isFolder = false
  for await (const item of itemAt(root, name)) {
    yield item
    isFolder = item.isFolder
  }
  if (!isFolder) return
  for (const { name: child } of await childrenOf(root, name)) yield* walk(root, `${name}/${child}`)
}

async function* filesOf(root: string, name: string): AsyncGenerator<Item, void> {
  for (const child of await childrenOf(root, name))
    if (child.isFile()) yield* itemAt(root, `${name}/${child.name}`)
}

/** The entries of a folder; none when it was removed in the meantime. */
async function childrenOf(root: string, name: string): Promise<Dirent[]> {
  try {
    const children: Dirent[] = []
    for await (const child of await opendir(join(root, name))) children.push(child)
    return children
  } catch (error) {
    if (isGone(error)) return []
    throw error
  }
}

async function* itemAt(root: string, name: string): AsyncGenerator<Item, void> {
  const path = join(root, name)
  try {
    const facts = await lstat(path)
    if (facts.isFile() || facts.isDirectory())
      yield {
        name: `${DATA_FOLDER}/${name}`,
        path,
        isFolder: facts.isDirectory(),
        size: facts.isFile() ? facts.size : 0,
      }
  } catch (error) {
    if (!isGone(error)) throw error
  }
}

/** Whether something was removed while the server ran on, such as an upload that nothing needs any more. */
export function isGone(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}

/** The names that an entry of a backup may have: nothing else is ever written to a disk. */
export function isKnownName(name: string): boolean {
  const parts = name.split('/')
  if (parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\0'))) return false
  if (name === SETTINGS_NAME) return true
  const [folder, first = '', ...rest] = parts
  if (folder !== DATA_FOLDER) return false
  if (rest.length === 0 && (FILES.includes(first) || first === 'deployer.db')) return true
  if (first === LOGS || first === BACKUPS) return rest.length === 1
  return FOLDERS.includes(first)
}

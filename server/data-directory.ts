import { accessSync, chmodSync, constants, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { AppError, messageOf } from './errors.ts'
import { makePrivateDirectory, PRIVATE_DIRECTORY_MODE } from './files.ts'

/** Folders of the data directory that are written by name. */
const FOLDERS = [
  'archives',
  'certificates',
  'checkouts',
  'deliveries',
  'logs',
  'mirrors',
  'proxy',
  'sites',
  'ssh',
]
/** What tells a data directory from one that is somebody else's. */
const OWN_FILES = ['deployer.db', 'lock.db', 'secret.key', 'api_token', 'setup_code']
/** Of file systems: an empty one has it. */
const LOST_AND_FOUND = 'lost+found'
/** Any access of the group or of others. */
const OPEN_TO_OTHERS = 0o077

/** Makes a data directory with its folders, its owner's alone. Throws `io_error` when it cannot be used. */
export function prepareDataDirectory(path: string): void {
  try {
    makePrivateDirectory(path)
    if (!statSync(path).isDirectory()) throw new Error('it is no directory')
    closeToOthers(path)
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    for (const folder of FOLDERS) makePrivateDirectory(join(path, folder))
  } catch (cause) {
    throw new AppError('io_error', `--data-dir ${path} cannot be used: ${messageOf(cause)}`, { cause })
  }
}

/** Makes a directory its owner's alone, unless it holds what is not the server's: others may need that. */
function closeToOthers(path: string): void {
  const mode = statSync(path).mode & 0o7777
  if ((mode & OPEN_TO_OTHERS) === 0) return
  const names = readdirSync(path).filter((name) => name !== LOST_AND_FOUND)
  const reason = `others can read it (mode ${mode.toString(8).padStart(4, '0')})`
  if (names.length > 0 && !names.some((name) => OWN_FILES.includes(name)))
    throw new Error(
      `${reason} and it holds other files: name a directory of the server's own, or chmod 700 it`,
    )
  try {
    chmodSync(path, PRIVATE_DIRECTORY_MODE)
  } catch (cause) {
    throw new Error(`${reason}, and its mode cannot be changed: ${messageOf(cause)}`, { cause })
  }
}

/**
 * Takes the lock of a data directory: an exclusive transaction on a small database of its own, which the kernel drops
 * with the process, however that ends. Null when another process holds it, after it was waited for so many milliseconds.
 */
export function takeDataLock(dataDirectory: string, patienceMs = 0): { release(): void } | null {
  const database = new DatabaseSync(join(dataDirectory, 'lock.db'), { timeout: patienceMs })
  try {
    database.exec('BEGIN EXCLUSIVE')
    return { release: () => database.close() }
  } catch {
    database.close()
    return null
  }
}

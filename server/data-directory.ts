import { accessSync, chmodSync, constants, existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { AppError, messageOf } from './errors.ts'
import { makePrivateDirectory, PRIVATE_DIRECTORY_MODE } from './files.ts'

/** The folders of the data directory. */
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
/** Files that are only in a data directory of this server. */
const OWN_FILES = ['deployer.db', 'lock.db', 'secret.key', 'api_token', 'setup_code']
/** A folder that an empty file system has. */
export const LOST_AND_FOUND = 'lost+found'
/** Permissions of the group and of others. */
export const OPEN_TO_OTHERS = 0o077

/** Creates a data directory with its folders, accessible only to its owner. Throws `io_error` when it cannot be used. */
export function prepareDataDirectory(path: string): void {
  assertNotBeingRestored(path)
  try {
    makePrivateDirectory(path)
    if (!statSync(path).isDirectory()) throw new Error('it is not a directory')
    closeToOthers(path)
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    for (const folder of FOLDERS) makePrivateDirectory(join(path, folder))
  } catch (cause) {
    throw new AppError('io_error', `--data-dir ${path} cannot be used: ${messageOf(cause)}`, { cause })
  }
}

/** Throws `conflict` for a directory that a restore was about to replace when it was killed: a new server must not begin there. */
function assertNotBeingRestored(path: string): void {
  const folder = `${path}.restoring`
  if (existsSync(join(path, 'deployer.db')) || !existsSync(join(folder, 'deployer.db'))) return
  throw new AppError(
    'conflict',
    `a restore into ${path} was interrupted: run deployer restore again, or remove ${folder}`,
  )
}

/**
 * Makes a directory accessible only to its owner, unless it contains files that are not the server's, which others may need.
 */
function closeToOthers(path: string): void {
  const mode = statSync(path).mode & 0o7777
  if ((mode & OPEN_TO_OTHERS) === 0) return
  const names = readdirSync(path).filter((name) => name !== LOST_AND_FOUND)
  const reason = `others can read it (mode ${mode.toString(8).padStart(4, '0')})`
  if (names.length > 0 && !names.some((name) => OWN_FILES.includes(name)))
    throw new Error(
      `${reason} and it contains other files: use a directory that is only for the server, or chmod 700 it`,
    )
  try {
    chmodSync(path, PRIVATE_DIRECTORY_MODE)
  } catch (cause) {
    throw new Error(`${reason}, and its mode cannot be changed: ${messageOf(cause)}`, { cause })
  }
}

export interface Lock {
  release(): void
}

/**
 * Locks a data directory with an exclusive transaction on a small database of its own, which the kernel releases with the
 * process, however that ends. Returns null when another process still has the lock after the given number of milliseconds.
 */
export function takeDataLock(dataDirectory: string, patienceMs = 0): Lock | null {
  return takeLock(join(dataDirectory, 'lock.db'), patienceMs)
}

/** The same with a file for another purpose. */
export function takeLock(file: string, patienceMs = 0): Lock | null {
  const database = new DatabaseSync(file, { timeout: patienceMs })
  try {
    database.exec('BEGIN EXCLUSIVE')
    return { release: () => database.close() }
  } catch {
    database.close()
    return null
  }
}

import { accessSync, chmodSync, constants, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setCheckoutsAside } from '#daemon/sources/left-checkouts.ts'
import { takeDataLock } from '#server/data-lock.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { makePrivateDirectory, PRIVATE_DIRECTORY_MODE } from '#server/files.ts'

/** Folders of the data directory that are written by name. */
const FOLDERS = ['archives', 'checkouts', 'deliveries', 'logs', 'sites', 'ssh']
/** What tells a data directory from one that is somebody else's. */
const OWN_FILES = ['deployer.db', 'lock.db', 'secret.key', 'api_token', 'setup_code']
/** Of file systems: an empty one has it. */
const LOST_AND_FOUND = 'lost+found'
/** Any access of the group or of others. */
const OPEN_TO_OTHERS = 0o077

/**
 * Makes the data directory ready and takes its lock. Throws `io_error` when it is in use or not writable.
 */
export function openDataDirectory(path: string): { release(): void } {
  try {
    makePrivateDirectory(path)
    if (!statSync(path).isDirectory()) throw new Error('it is no directory')
    closeToOthers(path)
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    for (const folder of FOLDERS) makePrivateDirectory(join(path, folder))
  } catch (cause) {
    throw new AppError('io_error', `--data-dir ${path} cannot be used: ${messageOf(cause)}`, { cause })
  }
  const lock = takeLock(path)
  removeLeftovers(path)
  return lock
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

function takeLock(path: string): { release(): void } {
  const lock = takeDataLock(path)
  if (lock) return lock
  throw new AppError(
    'io_error',
    `--data-dir ${path} is in use by another server: stop it, or name another directory`,
  )
}

/** What an earlier run was in the middle of; its deploys start over. */
function removeLeftovers(path: string): void {
  setCheckoutsAside(path)
  for (const name of readdirSync(join(path, 'archives'))) {
    if (name.endsWith('.partial')) rmSync(join(path, 'archives', name), { force: true })
  }
}

import { accessSync, constants, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setCheckoutsAside } from '#daemon/sources/left-checkouts.ts'
import { takeDataLock } from '#server/data-lock.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { makePrivateDirectory } from '#server/files.ts'

/** Folders of the data directory that are written by name. */
const FOLDERS = ['archives', 'checkouts', 'logs', 'sites', 'ssh']

/**
 * Makes the data directory ready and takes its lock. Throws `io_error` when it is in use or not writable.
 */
export function openDataDirectory(path: string): { release(): void } {
  try {
    makePrivateDirectory(path)
    if (!statSync(path).isDirectory()) throw new Error('it is no directory')
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    for (const folder of FOLDERS) makePrivateDirectory(join(path, folder))
  } catch (cause) {
    throw new AppError('io_error', `--data-dir ${path} cannot be used: ${messageOf(cause)}`, { cause })
  }
  const lock = takeLock(path)
  removeLeftovers(path)
  return lock
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

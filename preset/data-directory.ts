import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setCheckoutsAside } from '#daemon/sources/left-checkouts.ts'
import { prepareDataDirectory, takeDataLock } from '#server/data-directory.ts'
import { AppError } from '#server/errors.ts'

/** Prepares the data directory and takes its lock. Throws `io_error` when it is in use or not writable. */
export function openDataDirectory(path: string): { release(): void } {
  prepareDataDirectory(path)
  const lock = takeLock(path)
  removeLeftovers(path)
  return lock
}

/** A command that checks for a running server holds the lock for a moment. */
const LOCK_WAIT_MS = 1_000

function takeLock(path: string): { release(): void } {
  const lock = takeDataLock(path, LOCK_WAIT_MS)
  if (lock) return lock
  throw new AppError(
    'io_error',
    `--data-dir ${path} is in use by another server: stop it, or use another directory`,
  )
}

/** Removes what an earlier run left unfinished; its deploys start over. */
function removeLeftovers(path: string): void {
  setCheckoutsAside(path)
  for (const name of readdirSync(join(path, 'archives'))) {
    if (name.endsWith('.partial')) rmSync(join(path, 'archives', name), { force: true })
  }
}

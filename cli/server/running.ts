import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { takeDataLock } from '#server/data-directory.ts'
import { openDatabase, type Database } from '#server/database/index.ts'
import { AppError, messageOf } from '#server/errors.ts'

/** Error codes for a missing file, and for one that this user must not open (errno(3)). */
const MISSING = new Set(['ENOENT', 'ENOTDIR'])
const REFUSED = new Set(['EACCES', 'EPERM'])

/** What a running server writes about itself into its data directory. */
export interface RunningServer {
  pid: number
  url: string
  http_url: string
  https_url: string | null
}

/** Returns the server that runs on a data directory, or null if none does: then the lock of the directory is free. */
export function findServer(dataDirectory: string): RunningServer | null {
  const server = readServerFile(dataDirectory)
  if (!server) return null
  const lock = takeDataLock(dataDirectory)
  lock?.release()
  return lock ? null : server
}

/**
 * Returns what the last server wrote about itself, whether it still runs or not; null if there was none yet. Throws
 * `io_error` if this user must not read it.
 */
export function readServerFile(dataDirectory: string): RunningServer | null {
  const file = join(dataDirectory, 'server.json')
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as RunningServer
  } catch (cause) {
    if (MISSING.has(codeOf(cause))) return null
    throw unreadable(file, cause)
  }
}

/** Returns the error for a file of the data directory that exists but cannot be read. */
export function unreadable(file: string, cause: unknown): AppError {
  const advice = REFUSED.has(codeOf(cause)) ? "; run this as the server's user" : ''
  return new AppError('io_error', `cannot read ${file}: ${messageOf(cause)}${advice}`, { cause })
}

/** Opens the database of a data directory, with the server running or not. Throws `database_error` with what to do. */
export async function openBesideServer(file: string): Promise<Database> {
  try {
    return await openDatabase(file)
  } catch (cause) {
    throw new AppError(
      'database_error',
      `cannot open ${file}: ${messageOf(cause)}; run this as the server's user`,
      { cause },
    )
  }
}

/** Whether a file does not exist, as opposed to one that this user must not see. */
export function isMissing(file: string): boolean {
  try {
    statSync(file)
    return false
  } catch (error) {
    return MISSING.has(codeOf(error))
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? ''
}

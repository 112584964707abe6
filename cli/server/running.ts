import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { recordHostCommand } from '#server/audit/recording.ts'
import type { Resource } from '#server/audit/schema.ts'
import { SCHEMA_VERSION } from '#server/database/copy.ts'
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

/** Returns the token that the server created; empty if it was given another one and created none. */
export function readToken(dataDirectory: string): string {
  try {
    return readFileSync(join(dataDirectory, 'api_token'), 'utf8').trim()
  } catch {
    return ''
  }
}

/** Returns the error for a file of the data directory that exists but cannot be read. */
export function unreadable(file: string, cause: unknown): AppError {
  const advice = REFUSED.has(codeOf(cause)) ? "; run this as the server's user" : ''
  return new AppError('io_error', `cannot read ${file}: ${messageOf(cause)}${advice}`, { cause })
}

/**
 * Opens the database of a data directory, with the server running or not. What the command changes is in the audit log as
 * `action` on `resource`; null is for one whose requests to the server are. Throws `database_error` with what to do.
 */
export async function openBesideServer(
  file: string,
  action: string | null,
  resource: Resource | null = null,
): Promise<Database> {
  try {
    const database = await openDatabase(file)
    if (action !== null) recordHostCommand(database, action, resource)
    return database
  } catch (cause) {
    throw new AppError(
      'database_error',
      `cannot open ${file}: ${messageOf(cause)}; run this as the server's user`,
      { cause },
    )
  }
}

/** Throws `conflict` if another version's server runs on a database: opening it would change it for this version. */
export function assertSameSchema(file: string): void {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 })
  try {
    const { user_version } = database.prepare('PRAGMA user_version').get() as { user_version: number }
    if (user_version === SCHEMA_VERSION) return
    throw new AppError(
      'conflict',
      'the running server has another version than this command: use the command of that version',
    )
  } finally {
    database.close()
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

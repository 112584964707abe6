import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { takeDataLock } from '#server/data-directory.ts'
import { AppError, messageOf } from '#server/errors.ts'

/** No such file, and one that this user may not open (errno(3)). */
const MISSING = new Set(['ENOENT', 'ENOTDIR'])
const REFUSED = new Set(['EACCES', 'EPERM'])

/** What a running server says of itself in its data directory. */
export interface RunningServer {
  pid: number
  url: string
  http_url: string
  https_url: string | null
}

/** The server that runs on a data directory, or null when none does: then nobody holds the directory's lock. */
export function findServer(dataDirectory: string): RunningServer | null {
  const server = readServerFile(dataDirectory)
  if (!server) return null
  const lock = takeDataLock(dataDirectory)
  lock?.release()
  return lock ? null : server
}

/**
 * What the server that ran last said of itself, whether it still runs or not; null when none has run yet. Throws
 * `io_error` when that is not for this user to know.
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

/** The refusal of a file of the data directory that is there and cannot be read. */
export function unreadable(file: string, cause: unknown): AppError {
  const advice = REFUSED.has(codeOf(cause)) ? "; run this as the server's user" : ''
  return new AppError('io_error', `cannot read ${file}: ${messageOf(cause)}${advice}`, { cause })
}

/** Whether a file is not there, which is something else than one that this user may not see. */
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

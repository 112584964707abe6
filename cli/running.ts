import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { takeDataLock } from '#server/data-lock.ts'

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

/** What the server that ran last said of itself, whether it still runs or not; null when none has run yet. */
export function readServerFile(dataDirectory: string): RunningServer | null {
  const file = join(dataDirectory, 'server.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as RunningServer) : null
}

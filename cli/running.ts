import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a running server says of itself in its data directory. */
export interface RunningServer {
  pid: number
  url: string
  http_url: string
}

/** The server that runs on a data directory, or null when none does. */
export function findServer(dataDirectory: string): RunningServer | null {
  try {
    const server = JSON.parse(readFileSync(join(dataDirectory, 'server.json'), 'utf8')) as RunningServer
    process.kill(server.pid, 0)
    // A pid is given again after a while; the command line tells whether it is still ours.
    const command = readFileSync(`/proc/${server.pid}/cmdline`, 'utf8')
    return command.split('\0').includes('serve') ? server : null
  } catch {
    return null
  }
}

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** How long to wait for a server that writes at this moment. */
const BUSY_MS = 10_000

/** Opens the database of a server that may be running. */
export function databaseOf(dataDirectory: string, { readOnly = false } = {}): DatabaseSync {
  return new DatabaseSync(join(dataDirectory, 'deployer.db'), { readOnly, timeout: BUSY_MS })
}

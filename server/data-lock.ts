import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/**
 * Locks a data directory with an exclusive transaction on a small database of its own, which the kernel releases with the
 * process, however that ends. Returns null when another process still has the lock after the given number of milliseconds.
 */
export function takeDataLock(dataDirectory: string, patienceMs = 0): { release(): void } | null {
  const database = new DatabaseSync(join(dataDirectory, 'lock.db'), { timeout: patienceMs })
  try {
    database.exec('BEGIN EXCLUSIVE')
    return { release: () => database.close() }
  } catch {
    database.close()
    return null
  }
}

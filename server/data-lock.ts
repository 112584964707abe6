import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/**
 * Takes the lock of a data directory: an exclusive transaction on a small database of its own, which the kernel drops
 * with the process, however that ends. Null when another process holds it, after it was waited for so many milliseconds.
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

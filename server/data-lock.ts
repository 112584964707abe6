import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/**
 * Takes the lock of a data directory: an exclusive transaction on a small database of its own, which the kernel drops
 * with the process, however that ends. Null when another process holds it.
 */
export function takeDataLock(dataDirectory: string): { release(): void } | null {
  const database = new DatabaseSync(join(dataDirectory, 'lock.db'))
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    return { release: () => database.close() }
  } catch {
    database.close()
    return null
  }
}

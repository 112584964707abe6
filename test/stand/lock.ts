import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { standFolder } from './place.ts'

const RETRY_MS = 100
/** Longer than preparing the whole stand on a bare, busy machine. */
const LOCK_DEADLINE_MS = 15 * 60_000

/**
 * Runs work while no other process of this machine runs any under the same name. The lock is an SQLite transaction, so
 * that a killed process frees it. Throws when another process holds it for 15 minutes.
 */
export async function withLock<T>(name: string, work: () => Promise<T>): Promise<T> {
  const database = new DatabaseSync(join(standFolder(), `${name}.lock`), { timeout: 0 })
  const until = performance.now() + LOCK_DEADLINE_MS
  try {
    while (!tryBegin(database)) {
      if (performance.now() > until)
        throw new Error(`another process has held the stand's lock ${name} for 15 minutes`)
      await delay(RETRY_MS)
    }
    return await work()
  } finally {
    database.close()
  }
}

function tryBegin(database: DatabaseSync): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE')
    return true
  } catch (error) {
    const code = (error as { errcode?: number }).errcode
    // SQLITE_BUSY and its extended codes: https://www.sqlite.org/rescode.html#busy
    if (code !== undefined && (code & 0xff) === 5) return false
    throw error
  }
}

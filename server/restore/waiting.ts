import { useDatabase } from '../context.ts'
import type { Database } from '../database/index.ts'
import { readSetting, removeSetting, writeSetting } from '../database/settings.ts'
import { getRestore } from './store.ts'

const KEY = 'restore_waits'

/**
 * Whether this server was restored and has not found out yet what is missing, confirmed or not: whoever creates something before
 * that could hide it.
 */
export function isRestoring(): boolean {
  return getRestore()?.planned === 0
}

/** Why a restore that was confirmed does not go on; null when nothing keeps it. */
export function restoreWaits(database: Database = useDatabase()): string | null {
  return readSetting(database, KEY) ?? null
}

export function noteRestoreWaits(why: string | null): void {
  if (why === null) removeSetting(useDatabase(), KEY)
  else writeSetting(useDatabase(), KEY, why)
}

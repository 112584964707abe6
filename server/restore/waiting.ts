import { useDatabase } from '../context.ts'
import type { Database } from '../database/index.ts'
import { readSetting, removeSetting, writeSetting } from '../database/settings.ts'

const KEY = 'restore_waits'

/** Why a restore that was confirmed does not go on; null when nothing keeps it. */
export function restoreWaits(database: Database = useDatabase()): string | null {
  return readSetting(database, KEY) ?? null
}

export function noteRestoreWaits(why: string | null): void {
  if (why === null) removeSetting(useDatabase(), KEY)
  else writeSetting(useDatabase(), KEY, why)
}

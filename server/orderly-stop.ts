import { useDatabase } from './context.ts'

const KEY = 'stopped_in_order'

/** Records for the next start that this server was stopped in an orderly way. */
export function recordOrderlyStop(): void {
  useDatabase().run("INSERT OR REPLACE INTO settings (key, value) VALUES (?, '1')", KEY)
}

/**
 * Whether the previous run was stopped in an orderly way, and did not crash. Can be asked once per start, because it clears
 * the record.
 */
export function takeOrderlyStop(): boolean {
  return useDatabase().run('DELETE FROM settings WHERE key = ?', KEY) > 0
}

import { useDatabase } from '../context.ts'

const KEY = 'stopped_in_order'

/** Keeps for the next start that this server was told to stop. */
export function recordOrderlyStop(): void {
  useDatabase().run("INSERT OR REPLACE INTO settings (key, value) VALUES (?, '1')", KEY)
}

/** Whether the server was told to stop before this start, and did not crash; asked once a start, as it forgets it. */
export function takeOrderlyStop(): boolean {
  return useDatabase().run('DELETE FROM settings WHERE key = ?', KEY) > 0
}

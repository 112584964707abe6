import type { Database } from './index.ts'

/** What the server keeps for itself, a text by its name. */
export function readSetting(database: Database, key: string): string | undefined {
  return database.get<{ value: string }>('SELECT value FROM settings WHERE key = ?', key)?.value
}

export function writeSetting(database: Database, key: string, value: string): void {
  database.run(
    'INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
    key,
    value,
  )
}

/** Keeps a text unless there is one already. */
export function writeNewSetting(database: Database, key: string, value: string): void {
  database.run('INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO NOTHING', key, value)
}

/** Forgets a text; false when there is none. */
export function removeSetting(database: Database, key: string): boolean {
  return database.run('DELETE FROM settings WHERE key = ?', key) > 0
}

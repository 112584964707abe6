import { useDatabase } from '../context.ts'
import type { Value } from '../database/index.ts'
import type { RedirectHost } from './schema.ts'

/** A row of `redirect_hosts`. Times are milliseconds, booleans 0 or 1. */
export interface RedirectHostRow {
  id: string
  host: string
  /** The URL in its normal form. */
  target: string
  keep_path: number
  status: RedirectHost['status']
  created_at: number
  updated_at: number
}

/** All redirect hosts, by host. */
export function listRedirectHosts(): RedirectHostRow[] {
  return useDatabase().all<RedirectHostRow>('SELECT * FROM redirect_hosts ORDER BY host')
}

export function getRedirectHost(id: string): RedirectHostRow | undefined {
  return useDatabase().get<RedirectHostRow>('SELECT * FROM redirect_hosts WHERE id = ?', id)
}

export function getRedirectHostByName(host: string): RedirectHostRow | undefined {
  return useDatabase().get<RedirectHostRow>('SELECT * FROM redirect_hosts WHERE host = ?', host)
}

/** Adds a redirect host, or changes the record with this id. */
export function writeRedirectHost(row: RedirectHostRow): void {
  const columns = Object.keys(row)
  const changes = columns.map((column) => `${column} = excluded.${column}`)
  useDatabase().run(
    `INSERT INTO redirect_hosts (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
     ON CONFLICT (id) DO UPDATE SET ${changes.join(', ')}`,
    ...(Object.values(row) as Value[]),
  )
}

export function deleteRedirectHostRow(id: string): void {
  useDatabase().run('DELETE FROM redirect_hosts WHERE id = ?', id)
}

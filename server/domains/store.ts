import { useDatabase } from '../context.ts'
import { newId } from '../ids.ts'
import { isLocalName } from './names.ts'
import type { DomainStatus } from './states.ts'

/** A row of `domains`. Times are milliseconds, booleans 0 or 1. */
export interface DomainRow {
  id: string
  name: string
  source: 'config' | 'api'
  status: DomainStatus
  is_default: number
  /** The results of the last checks, as the API returns them, in JSON. */
  checks: string
  created_at: number
  checked_at: number | null
  verified_at: number | null
}

/** Every domain, the default first, then by age. */
export function listDomains(): DomainRow[] {
  return useDatabase().all<DomainRow>('SELECT * FROM domains ORDER BY is_default DESC, created_at, id')
}

export function getDomain(id: string): DomainRow | undefined {
  return useDatabase().get<DomainRow>('SELECT * FROM domains WHERE id = ?', id)
}

export function getDomainByName(name: string): DomainRow | undefined {
  return useDatabase().get<DomainRow>('SELECT * FROM domains WHERE name = ?', name)
}

/** Whether services are served under a domain: always under the base domain, under others once they were verified. */
export function isServed({ source, status }: Pick<DomainRow, 'source' | 'status'>): boolean {
  return source === 'config' || status !== 'pending'
}

/** The names of the domains that services are served under, the default first. */
export function servedDomains(): string[] {
  return listDomains()
    .filter(isServed)
    .map(({ name }) => name)
}

/** Adds a domain; a local one is active at once. */
export function insertDomain(name: string, source: DomainRow['source']): DomainRow {
  const id = newId('domain')
  useDatabase().run(
    'INSERT INTO domains (id, name, source, status, created_at) VALUES (?, ?, ?, ?, ?)',
    id,
    name,
    source,
    isLocalName(name) ? 'active' : 'pending',
    Date.now(),
  )
  return getDomain(id)!
}

/** Changes the source of a domain: a domain that was connected before may become the base domain. */
export function setSource(id: string, source: DomainRow['source']): void {
  useDatabase().run('UPDATE domains SET source = ? WHERE id = ?', source, id)
}

/** Makes a domain the only default. */
export function setDefault(id: string): void {
  const database = useDatabase()
  database.transaction(() => {
    database.run('UPDATE domains SET is_default = 0 WHERE is_default = 1')
    database.run('UPDATE domains SET is_default = 1 WHERE id = ?', id)
  })
}

/** Stores the results of a domain's checks. */
export function setChecks(id: string, checks: string): void {
  useDatabase().run('UPDATE domains SET checks = ?, checked_at = ? WHERE id = ?', checks, Date.now(), id)
}

/** Stores when the names under a domain first reached the server. Returns whether that was not known before. */
export function setVerified(id: string): boolean {
  const sql = 'UPDATE domains SET verified_at = ? WHERE id = ? AND verified_at IS NULL'
  return useDatabase().run(sql, Date.now(), id) > 0
}

export function deleteDomainRow(id: string): void {
  useDatabase().run('DELETE FROM domains WHERE id = ?', id)
}

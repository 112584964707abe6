import { useDatabase } from '../context.ts'
import type { Database } from '../database/index.ts'
import type { Access, Mode } from './access.ts'

const DOES: Record<Mode, string> = {
  read: 'may read',
  deploy: 'may read and deploy',
  full: 'may change everything',
}

/** What an access allows, in words that follow "this token": `may read and deploy in staging, and sees no secrets`. */
export function wordsOf(access: Access, database: Database = useDatabase()): string {
  const { mode, secrets, environments, services } = access
  const places = [
    services && listed('service', names(database, 'services', services)),
    environments && listed('environment', names(database, 'environments', environments)),
  ].filter((place) => place !== null)
  const where = places.length === 0 ? '' : ` in ${places.join(' of ')}`
  return `${DOES[mode]}${where}${secrets ? '' : ', and sees no secrets'}`
}

function listed(noun: string, found: string[]): string {
  if (found.length === 0) return `no ${noun}`
  return `the ${noun}${found.length === 1 ? '' : 's'} ${found.join(', ')}`
}

/** The names of those that still exist. */
function names(database: Database, table: 'services' | 'environments', ids: readonly string[]): string[] {
  return database
    .all<{ name: string }>(
      `SELECT name FROM ${table} WHERE id IN (SELECT value FROM json_each(?)) ORDER BY name`,
      JSON.stringify(ids),
    )
    .map(({ name }) => name)
}

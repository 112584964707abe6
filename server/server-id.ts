import type { Database } from './database/index.ts'
import { readSetting, writeNewSetting } from './database/settings.ts'
import { randomHex } from './ids.ts'

const KEY = 'server_id'
const SERVER_ID_BYTES = 10

/** Identifies this server in the engine's labels and to the data plane. Generated once and kept in the database. */
export function serverIdOf(database: Database): string {
  writeNewSetting(database, KEY, randomHex(SERVER_ID_BYTES))
  return keptId(database)
}

/** The same for a database that must not be written. Throws an Error if no server has started on it. */
export function keptId(database: Database): string {
  const id = readSetting(database, KEY)
  if (id === undefined) throw new Error('no server has started on this database yet')
  return id
}

import type { Database } from './database/index.ts'
import { readSetting, writeNewSetting } from './database/settings.ts'
import { randomHex } from './ids.ts'

const KEY = 'server_id'
const SERVER_ID_BYTES = 10

/** Identifies this server in the engine's labels and to the data plane. Generated once and kept in the database. */
export function serverIdOf(database: Database): string {
  writeNewSetting(database, KEY, randomHex(SERVER_ID_BYTES))
  return readSetting(database, KEY)!
}

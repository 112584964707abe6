import type { Database } from './database/index.ts'
import { randomHex } from './ids.ts'

const SERVER_ID_BYTES = 10

/** Identifies this server in the engine's labels and to the data plane. Generated once and kept in the database. */
export function serverIdOf(database: Database): string {
  database.run(
    "INSERT INTO settings (key, value) VALUES ('server_id', ?) ON CONFLICT (key) DO NOTHING",
    randomHex(SERVER_ID_BYTES),
  )
  return database.get<{ value: string }>("SELECT value FROM settings WHERE key = 'server_id'")!.value
}

import type { Database } from './database/index.ts'
import type { Options } from './options/index.ts'
import type { Vault } from './secrets.ts'

/** What every part of the server needs. Created once at start. */
export interface Context {
  options: Options
  database: Database
  vault: Vault
  /** Identifies this server to the engine and the data plane. Generated at first start. */
  serverId: string
  version: string
  /** Aborts when the server stops, and ends streams and waits. */
  stopping: AbortSignal
}

let current: Context | undefined

/** Publishes the context. The entry calls it once, before anything else runs. */
export function provideContext(context: Context): void {
  current = context
}

/** The context. Throws when the server has not started. */
export function useContext(): Context {
  if (!current) throw new Error('the server has not started')
  return current
}

/** The database of the context. */
export function useDatabase(): Database {
  return useContext().database
}

import { useContext, useDatabase } from './context.ts'
import type { Database } from './database/index.ts'
import type { Vault } from './secrets.ts'

/** What a thing in the container engine is. */
export type ThingKind = 'container' | 'image' | 'network' | 'volume' | 'build_cache'

/** A thing that this server made in the container engine, or was about to make. */
export interface Thing {
  /** Of the build cache a record's id or, while the engine has still to be asked for that, the sealed step that made it. */
  name: string
  /** The engine's id of it; null until the engine has answered. */
  engine_id: string | null
}

/** What a server has made in the container engine, by its database. */
export function ledgerOf(database: () => Database, vault: () => Vault) {
  return {
    record(kind: ThingKind, name: string, engineId: string | null = null): void {
      database().run(
        `INSERT INTO engine_things (kind, name, engine_id) VALUES (?1, ?2, ?3)
         ON CONFLICT (kind, name) DO UPDATE SET engine_id = ?3`,
        kind,
        name,
        engineId,
      )
    },

    find(kind: ThingKind, name: string): Thing | undefined {
      return database().get<Thing>(
        'SELECT name, engine_id FROM engine_things WHERE kind = ? AND name = ?',
        kind,
        name,
      )
    },

    list(kind: ThingKind): Thing[] {
      return database().all<Thing>(
        'SELECT name, engine_id FROM engine_things WHERE kind = ? ORDER BY name',
        kind,
      )
    },

    waiting(kind: ThingKind): string[] {
      const sql = 'SELECT name FROM engine_things WHERE kind = ? AND engine_id IS NULL'
      return database()
        .all<Thing>(sql, kind)
        .map(({ name }) => name)
    },

    countWaiting(kind: ThingKind): number {
      const sql = 'SELECT count(*) AS count FROM engine_things WHERE kind = ? AND engine_id IS NULL'
      return database().get<{ count: number }>(sql, kind)!.count
    },

    forget(kind: ThingKind, name: string): void {
      database().run('DELETE FROM engine_things WHERE kind = ? AND name = ?', kind, name)
    },

    atOnce(work: () => void): void {
      database().transaction(work)
    },

    seal(text: string): string {
      return Buffer.from(vault().seal(text)).toString('base64')
    },

    open(sealed: string): string {
      return vault().open(Buffer.from(sealed, 'base64'))
    },
  }
}

/** The same of the server that runs. */
export const ledger = ledgerOf(useDatabase, () => useContext().vault)

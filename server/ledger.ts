import { useContext, useDatabase } from './context.ts'
import type { Database } from './database/index.ts'
import { ownNodeOf } from './nodes/store.ts'
import type { Vault } from './secrets.ts'

/** The kinds of objects in the container engine. */
export type EngineObjectKind = 'container' | 'image' | 'network' | 'volume' | 'build_cache'

/** An object that this server created in the container engine, or was about to create. */
export interface EngineObject {
  /** For the build cache, a record's id or, until the engine is asked for that, the sealed step that created it. */
  name: string
  /** The engine's id of it; null until the engine has answered. */
  engine_id: string | null
}

/** The record of what a server has created in a node's engine, kept in its database; that of its own node if none is named. */
export function ledgerOf(database: () => Database, vault: () => Vault, nodeId?: string) {
  const node = (): string => nodeId ?? ownNodeOf(database())
  return {
    record(kind: EngineObjectKind, name: string, engineId: string | null = null): void {
      database().run(
        `INSERT INTO engine_things (node_id, kind, name, engine_id) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (node_id, kind, name) DO UPDATE SET engine_id = ?4`,
        node(),
        kind,
        name,
        engineId,
      )
    },

    find(kind: EngineObjectKind, name: string): EngineObject | undefined {
      return database().get<EngineObject>(
        'SELECT name, engine_id FROM engine_things WHERE node_id = ? AND kind = ? AND name = ?',
        node(),
        kind,
        name,
      )
    },

    list(kind: EngineObjectKind): EngineObject[] {
      return database().all<EngineObject>(
        'SELECT name, engine_id FROM engine_things WHERE node_id = ? AND kind = ? ORDER BY name',
        node(),
        kind,
      )
    },

    waiting(kind: EngineObjectKind): string[] {
      const sql = 'SELECT name FROM engine_things WHERE node_id = ? AND kind = ? AND engine_id IS NULL'
      return database()
        .all<EngineObject>(sql, node(), kind)
        .map(({ name }) => name)
    },

    countWaiting(kind: EngineObjectKind): number {
      const sql =
        'SELECT count(*) AS count FROM engine_things WHERE node_id = ? AND kind = ? AND engine_id IS NULL'
      return database().get<{ count: number }>(sql, node(), kind)!.count
    },

    forget(kind: EngineObjectKind, name: string): void {
      database().run(
        'DELETE FROM engine_things WHERE node_id = ? AND kind = ? AND name = ?',
        node(),
        kind,
        name,
      )
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

/** The ledger of the running server's own node. */
export const ledger = ledgerOf(useDatabase, () => useContext().vault)

/** The ledger of one of the running server's nodes. */
export function ledgerOn(nodeId: string): ReturnType<typeof ledgerOf> {
  return ledgerOf(useDatabase, () => useContext().vault, nodeId)
}

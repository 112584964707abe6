import { chmodSync, existsSync } from 'node:fs'
import { createDatabase } from 'db0'
import sqlite from 'db0/connectors/node-sqlite'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { AppError, DISK_FULL } from '../errors.ts'
import { migrations } from './migrations/index.ts'
import { readOnlyUrl } from './read-only.ts'

/** A value that can be bound to a statement: node's SQLite refuses booleans, dates and undefined. */
export type Value = string | number | bigint | null | Uint8Array
export type Row = Record<string, unknown>

export interface Database {
  all<T = Row>(sql: string, ...values: Value[]): T[]
  get<T = Row>(sql: string, ...values: Value[]): T | undefined
  /** Runs one statement. Returns the number of rows that it changed. */
  run(sql: string, ...values: Value[]): number
  /** Runs `work` in one transaction. It must be synchronous: during an await, other code could write into it. */
  transaction<T>(work: () => T): T
  /** Has `hook` run at the end of each transaction that changed something; a write outside of one becomes one where it applies. */
  beforeCommit(hook: CommitHook): void
  /** Changes whenever anything may have been written, by this process or another. */
  version(): string
  close(): Promise<void>
}

/** Something that is written together with what others write. */
export interface CommitHook {
  applies(): boolean
  /** Returns what is to be done once the transaction has committed, which must not throw. */
  run(): () => void
}

/**
 * Opens the database file (created with mode 0600) through db0, and migrates it to the newest version.
 * Throws `database_error` when the file was written by a newer version of the server.
 */
export async function openDatabase(path: string): Promise<Database> {
  const fresh = !existsSync(path)
  const connection = createDatabase(sqlite({ path }))
  const raw = await connection.getInstance()
  if (fresh) chmodSync(path, 0o600)
  // busy_timeout first, so that the switch to WAL waits for another process (reset-password runs next to the server).
  execute(
    raw,
    'PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON',
  )
  const database = wrap(raw, () => Promise.resolve(connection.dispose()))
  migrate(database, raw)
  return database
}

/** The version of a database: how many migrations it has had. */
export function schemaVersion(database: Database): number {
  return database.get<{ user_version: number }>('PRAGMA user_version')!.user_version
}

/**
 * Opens a database file to read it: it is not migrated, and no file is left next to it. Throws an Error if it does not exist
 * or cannot be read.
 */
export function readDatabase(path: string): Database {
  return wrapOwn(new DatabaseSync(readOnlyUrl(path), { readOnly: true }))
}

/** A database without tables, in place of one that cannot be read. */
export function emptyDatabase(): Database {
  return wrapOwn(new DatabaseSync(':memory:', { readOnly: true }))
}

function wrapOwn(raw: DatabaseSync): Database {
  return wrap(raw, () => Promise.resolve(raw.close()))
}

function wrap(raw: DatabaseSync, close: () => Promise<void>): Database {
  const statements = new Map<string, StatementSync>()
  const prepare = (sql: string) => {
    const known = statements.get(sql)
    if (known) return known
    const statement = raw.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
  let open = false
  let writes = 0
  let changedRows = 0
  let hook: CommitHook | null = null
  const run = (sql: string, ...values: Value[]): number => {
    writes++
    const changes = Number(explainingFullDisk(() => prepare(sql).run(...values)).changes)
    changedRows += changes
    return changes
  }
  const database: Database = {
    all: <T>(sql: string, ...values: Value[]) => prepare(sql).all(...values) as T[],
    get: <T>(sql: string, ...values: Value[]) => prepare(sql).get(...values) as T | undefined,
    run: (sql, ...values) =>
      open || !hook?.applies() ? run(sql, ...values) : database.transaction(() => run(sql, ...values)),
    beforeCommit: (given) => void (hook = given),
    // The pragma only changes with writes of other connections (sqlite.org/pragma.html#pragma_data_version).
    version: () => `${writes}.${String(prepare('PRAGMA data_version').get()!.data_version)}`,
    transaction(work) {
      if (open) return work()
      raw.exec('BEGIN IMMEDIATE')
      open = true
      const before = changedRows
      try {
        const result = work()
        if (result instanceof Promise) throw new TypeError('a transaction must be synchronous')
        const committed = changedRows > before && hook?.applies() ? hook.run() : undefined
        execute(raw, 'COMMIT')
        committed?.()
        return result
      } catch (error) {
        // Whatever was read inside the transaction is no longer valid.
        writes++
        // On a full disk SQLite has rolled back already (sqlite.org/lang_transaction.html, "Response To Errors").
        if (raw.isTransaction) raw.exec('ROLLBACK')
        throw error
      } finally {
        open = false
      }
    },
    close,
  }
  return database
}

/** SQLITE_FULL (sqlite.org/rescode.html). */
const FULL = 13

/** Runs a write. Throws `database_error` that says so when the disk is full. */
function explainingFullDisk<T>(write: () => T): T {
  try {
    return write()
  } catch (cause) {
    if ((cause as { errcode?: number }).errcode !== FULL) throw cause
    throw new AppError('database_error', DISK_FULL, { cause })
  }
}

function execute(raw: DatabaseSync, sql: string): void {
  explainingFullDisk(() => raw.exec(sql))
}

function migrate(database: Database, raw: DatabaseSync): void {
  const version = schemaVersion(database)
  if (version > migrations.length) {
    throw new AppError(
      'database_error',
      `the database is at version ${version}, this server supports up to ${migrations.length}: start the newer server that wrote it`,
    )
  }
  for (const [index, migration] of migrations.entries()) {
    if (index < version) continue
    database.transaction(() => {
      execute(raw, migration)
      execute(raw, `PRAGMA user_version = ${index + 1}`)
    })
  }
}

/** Whether an error is SQLite's refusal of a second row with the same unique value. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('UNIQUE constraint failed')
}

import { setTimeout as delay } from 'node:timers/promises'
import { KINDS, type DatastoreKind, type Place } from '#server/datastores/kinds.ts'
import type { DatastoreRow } from '#server/datastores/store.ts'
import { externalPlace } from '#server/datastores/view.ts'
import { boundedSocket } from './bounded-socket.ts'
import { KeyvalueClient } from './keyvalue-client.ts'

/** A program that takes longer for the simplest query does not answer its clients either. */
const ANSWER_MS = 5_000

/** Interval between two checks of a file that is being written. */
const REWRITE_PERIOD_MS = 100

/** Sends a datastore the simplest query that proves it works for a client. Throws the error that a client would get. */
type Ask = (place: Place) => Promise<void>

const ASK: Record<DatastoreKind, Ask> = { relational: askRelational, keyvalue: askKeyvalue }

/** Signs in to a datastore as its user would and sends a query. Throws the reason if it does not answer. */
export async function probeDatastore(row: DatastoreRow): Promise<void> {
  const place = externalPlace(row)
  if (!place) throw new Error(`the ${KINDS[row.kind].label} has no port yet`)
  await probePlace(row.kind, place)
}

/** Does the same for a program of this kind at any address. */
export async function probePlace(kind: DatastoreKind, place: Place): Promise<void> {
  await ASK[kind](place)
}

async function askRelational(place: Place): Promise<void> {
  await queryRelational(place, 'SELECT 1')
}

/** Runs a quick query. Throws the database's error. */
async function queryRelational(
  { host, port, username, password, database }: Place,
  sql: string,
): Promise<Record<string, unknown>[]> {
  const { Client } = await import('pg')
  const socket = boundedSocket()
  const client = new Client({
    host,
    port,
    user: username,
    password,
    database: database!,
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
    application_name: 'deployer',
    stream: () => socket,
  })
  // A connection that breaks between two answers emits an error event, which would otherwise be unhandled.
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    client.end().catch(() => {})
    // After the end message is written: a program that never closes would keep a connection of every query.
    socket.destroySoon()
  }
}

/** Returns the names of the databases that a relational datastore has besides its own. Throws if it does not answer. */
export async function furtherDatabases(row: DatastoreRow): Promise<string[]> {
  if (row.kind !== 'relational') return []
  const rows = await queryRelational(
    externalPlace(row)!,
    `SELECT datname FROM pg_database WHERE NOT datistemplate AND datname NOT IN ('postgres', current_database())
     ORDER BY datname LIMIT 20`,
  )
  return rows.map(({ datname }) => String(datname))
}

/**
 * Returns the first transaction number whose writes may be missing in a dump that begins now: that of the oldest open
 * transaction, or the next one. Throws if a relational datastore does not answer.
 */
export async function firstUndumped(row: DatastoreRow): Promise<bigint> {
  const [found] = await queryRelational(
    externalPlace(row)!,
    'SELECT txid_snapshot_xmin(txid_current_snapshot())::text AS first',
  )
  return BigInt(String(found?.first))
}

/** Asks a datastore how much disk space it uses. Throws if it does not answer. */
type Measure = (place: Place) => Promise<number>

const MEASURE: Record<DatastoreKind, Measure> = { relational: measureRelational, keyvalue: measureKeyvalue }

/** Returns how many bytes of the disk a datastore uses, as its program reports. Throws if it does not. */
export function measureDisk(row: DatastoreRow): Promise<number> {
  return MEASURE[row.kind](externalPlace(row)!)
}

/** Returns the size of all databases and the write-ahead log, which can have a gigabyte (manual, "WAL Configuration"). */
async function measureRelational(place: Place): Promise<number> {
  const [row] = await queryRelational(
    place,
    `SELECT (SELECT sum(pg_database_size(oid)) FROM pg_database) + (SELECT sum(size) FROM pg_ls_waldir()) AS bytes`,
  )
  return sizeFrom(row?.bytes)
}

/** Returns the size of its append-only file, which has everything. */
async function measureKeyvalue(place: Place): Promise<number> {
  const client = await KeyvalueClient.open(place, ANSWER_MS)
  try {
    const info = await client.ask('INFO', 'persistence')
    return sizeFrom(/^aof_current_size:(\d+)/m.exec(info)?.[1])
  } finally {
    client.close()
  }
}

function sizeFrom(answer: unknown): number {
  const bytes = Number(answer ?? Number.NaN)
  if (!Number.isSafeInteger(bytes))
    throw new Error(`it reports the size ${String(answer)}, which is not a number of bytes`)
  return bytes
}

async function askKeyvalue(place: Place): Promise<void> {
  const client = await KeyvalueClient.open(place, ANSWER_MS)
  try {
    await client.ask('PING')
  } finally {
    client.close()
  }
}

/** Changes settings of a running key-value store with `CONFIG SET`. */
export async function configureKeyvalue(row: DatastoreRow, settings: Record<string, string>): Promise<void> {
  const client = await KeyvalueClient.open(externalPlace(row)!, ANSWER_MS)
  try {
    await client.ask('CONFIG', 'SET', ...Object.entries(settings).flat())
  } finally {
    client.close()
  }
}

/** Makes a key-value store write an append-only file from now on, and waits until the file has everything. */
export async function beginAppendOnly(place: Place, signal: AbortSignal): Promise<void> {
  const client = await KeyvalueClient.open(place, ANSWER_MS)
  try {
    await client.ask('CONFIG', 'SET', 'appendonly', 'yes')
    for (;;) {
      signal.throwIfAborted()
      const info = await client.ask('INFO', 'persistence')
      if (/^aof_last_bgrewrite_status:err/m.test(info))
        throw new Error('it could not write its append-only file')
      if (/^aof_rewrite_in_progress:0/m.test(info) && /^aof_rewrite_scheduled:0/m.test(info)) return
      // There is no event for it.
      await delay(REWRITE_PERIOD_MS, undefined, { signal })
    }
  } finally {
    client.close()
  }
}

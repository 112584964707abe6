import { setTimeout as delay } from 'node:timers/promises'
import { KINDS, type DatastoreKind, type Place } from '#server/datastores/kinds.ts'
import type { DatastoreRow } from '#server/datastores/store.ts'
import { externalPlace } from '#server/datastores/view.ts'
import { boundedSocket } from './bounded-socket.ts'
import { KeyvalueClient } from './keyvalue-client.ts'

/** A program that takes longer for the least of questions does not answer its clients either. */
const ANSWER_MS = 5_000

/** Between two looks at a file that is being written. */
const REWRITE_PERIOD_MS = 100

/** Asks a datastore the least that proves it works for a client. Throws what the client is told. */
type Ask = (place: Place) => Promise<void>

const ASK: Record<DatastoreKind, Ask> = { relational: askRelational, keyvalue: askKeyvalue }

/** Signs in to a datastore as its user would and asks it something. Throws the reason when it does not answer. */
export async function probeDatastore(row: DatastoreRow): Promise<void> {
  const place = externalPlace(row)
  if (!place) throw new Error(`the ${KINDS[row.kind].label} has no port yet`)
  await probePlace(row.kind, place)
}

/** The same for a program of a kind that runs anywhere. */
export async function probePlace(kind: DatastoreKind, place: Place): Promise<void> {
  await ASK[kind](place)
}

async function askRelational(place: Place): Promise<void> {
  await queryRelational(place, 'SELECT 1')
}

/** Runs a query that takes no time. Throws what the database says. */
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
  // A connection that breaks between two answers says so by an event, which nobody else waits for.
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    client.end().catch(() => {})
    // Once the farewell is written: a program that never closes would keep a connection of every question.
    socket.destroySoon()
  }
}

/** The databases that a relational datastore holds besides its own, by name. Throws when it does not answer. */
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
 * The number from which on a transaction may write what a dump that begins now does not hold: that of the oldest one that
 * is open, or the next. Throws when a relational datastore does not answer.
 */
export async function firstUndumped(row: DatastoreRow): Promise<bigint> {
  const [found] = await queryRelational(
    externalPlace(row)!,
    'SELECT txid_snapshot_xmin(txid_current_snapshot())::text AS first',
  )
  return BigInt(String(found?.first))
}

/** Asks a datastore how much of the disk it takes. Throws when it does not say. */
type Measure = (place: Place) => Promise<number>

const MEASURE: Record<DatastoreKind, Measure> = { relational: measureRelational, keyvalue: measureKeyvalue }

/** How many bytes of the disk a datastore takes, as its program says. Throws when it does not. */
export function measureDisk(row: DatastoreRow): Promise<number> {
  return MEASURE[row.kind](externalPlace(row)!)
}

/** All databases, and the log that goes ahead of them, which is a gigabyte by itself on a busy one (manual, "WAL Configuration"). */
async function measureRelational(place: Place): Promise<number> {
  const [row] = await queryRelational(
    place,
    `SELECT (SELECT sum(pg_database_size(oid)) FROM pg_database) + (SELECT sum(size) FROM pg_ls_waldir()) AS bytes`,
  )
  return sizeFrom(row?.bytes)
}

/** Its append-only file, which holds everything. */
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
  if (!Number.isSafeInteger(bytes)) throw new Error(`it says ${String(answer)} of its size`)
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

/** Tells a running key-value store of new settings, as `CONFIG SET` takes them. */
export async function configureKeyvalue(row: DatastoreRow, settings: Record<string, string>): Promise<void> {
  const client = await KeyvalueClient.open(externalPlace(row)!, ANSWER_MS)
  try {
    await client.ask('CONFIG', 'SET', ...Object.entries(settings).flat())
  } finally {
    client.close()
  }
}

/** Has a key-value store write an append-only file from now on, and waits until that holds everything. */
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
      // The program has no event for it.
      await delay(REWRITE_PERIOD_MS, undefined, { signal })
    }
  } finally {
    client.close()
  }
}

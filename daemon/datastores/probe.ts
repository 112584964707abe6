import { KINDS, type DatastoreKind, type Place } from '#server/datastores/kinds.ts'
import type { DatastoreRow } from '#server/datastores/store.ts'
import { externalPlace } from '#server/datastores/view.ts'

/** A program that takes longer for the least of questions does not answer its clients either. */
const ANSWER_MS = 5_000

/** Asks a datastore the least that proves it works for a client. Throws what the client is told. */
type Ask = (place: Place) => Promise<void>

const ASK: Record<DatastoreKind, Ask> = { relational: askRelational, keyvalue: askKeyvalue }

/** Signs in to a datastore as its user would and asks it something. Throws the reason when it does not answer. */
export async function probeDatastore(row: DatastoreRow): Promise<void> {
  const place = externalPlace(row)
  if (!place) throw new Error(`the ${KINDS[row.kind].label} has no port yet`)
  await ASK[row.kind](place)
}

async function askRelational({ host, port, username, password, database }: Place): Promise<void> {
  const { Client } = await import('pg')
  const client = new Client({
    host,
    port,
    user: username,
    password,
    database: database!,
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
    application_name: 'deployer',
  })
  // A connection that breaks between two answers says so by an event, which nobody else waits for.
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('SELECT 1')
  } finally {
    client.end().catch(() => {})
  }
}

async function askKeyvalue({ host, port, username, password }: Place): Promise<void> {
  const client = await connectKeyvalue({ host, port, username, password })
  try {
    await client.ping()
  } finally {
    client.destroy()
  }
}

/** Tells a running key-value store of new settings, as `CONFIG SET` takes them. */
export async function configureKeyvalue(row: DatastoreRow, settings: Record<string, string>): Promise<void> {
  const client = await connectKeyvalue(externalPlace(row)!)
  try {
    await client.configSet(settings)
  } finally {
    client.destroy()
  }
}

async function connectKeyvalue({ host, port, username, password }: Omit<Place, 'database'>) {
  const { createClient } = await import('@redis/client')
  const client = createClient({
    username,
    password,
    socket: { host, port, connectTimeout: ANSWER_MS, socketTimeout: ANSWER_MS, reconnectStrategy: false },
    disableOfflineQueue: true,
  })
  client.on('error', () => {})
  await client.connect()
  return client
}

import { randomBytes } from 'node:crypto'
import { createClient } from '@redis/client'
import { Client } from 'pg'
import { expect } from 'vitest'
import { join } from 'node:path'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { docker } from './live.ts'

export interface Datastore {
  id: string
  name: string
  status: string
  error: string | null
  version: string
  external_url: string
  internal_url: string
  connect_command: string
  host_port: number
  internal_tls_port: number
  host_tls_port: number
  ca_certificate: string
  disk_bytes: number | null
}

export interface Backup {
  id: string
  status: string
  error: string | null
  size_bytes: number
  sha256: string
  stored: string[]
  trigger: string
}

/** A server with a relational datastore `db` and a key-value one `cache`, both available. */
export interface Stores {
  server: TestServer
  db: Datastore
  cache: Datastore
}

/** Starts a server with two datastores that contain data: `notes` with one row, and `at`, which is `first`. */
export async function startStores(): Promise<Stores> {
  const server = await startServer({ engine: true })
  await waitFor(() => server.logs.includes('reached_by'), 'the engine')
  const [first, second] = await Promise.all([
    create(server, { kind: 'relational', name: 'db', version: '15' }),
    create(server, { kind: 'keyvalue', name: 'cache' }),
  ])
  const db = await become(server, first.id, 'available')
  const cache = await become(server, second.id, 'available')
  await query(db.external_url, 'CREATE TABLE notes AS SELECT 1 AS id')
  await keyvalue(cache.external_url, (client) => client.set('at', 'first'))
  return { server, db, cache }
}

/** Starts a server with only the key-value datastore, which is created and filled at once. */
export async function startCache(flags: string[]): Promise<Omit<Stores, 'db'>> {
  const server = await startServer({ engine: true, flags })
  await waitFor(() => server.logs.includes('reached_by'), 'the engine')
  const { id } = await create(server, { kind: 'keyvalue', name: 'cache' })
  const cache = await become(server, id, 'available')
  await keyvalue(cache.external_url, (client) => client.set('at', 'first'))
  return { server, cache }
}

/** Requests a backup and waits for its end. */
export async function backUp(server: TestServer, name: string): Promise<Backup> {
  const { status, body } = await server.api('POST', `/datastores/${name}/backups`)
  expect(status).toBe(202)
  expect(body).toMatchObject({ status: 'running', size_bytes: null, sha256: null, finished_at: null })
  return endOfBackup(server, name, body.id)
}

/** Waits for the end of a backup. */
export function endOfBackup(server: TestServer, name: string, id: string): Promise<Backup> {
  return waitFor(async () => {
    const { body } = await server.api('GET', `/datastores/${name}/backups/${id}`)
    return body.status === 'running' ? null : (body as Backup)
  }, `the end of ${id}`)
}

/** The backups of a datastore, newest first. */
export async function backupsOf(server: TestServer, name: string): Promise<Backup[]> {
  return (await server.api('GET', `/datastores/${name}/backups`)).body as Backup[]
}

/** The file of a backup. */
export function backupFile(server: TestServer, id: string): string {
  return join(server.dataDirectory, 'backups', id)
}

/** Restores a backup into its own datastore and waits until that serves again. */
export async function restored(server: TestServer, name: string, backup: string): Promise<Datastore> {
  const { status, body } = await server.api('POST', `/datastores/${name}/backups/${backup}/restore`, {})
  expect(status).toBe(202)
  expect(body.status).toBe('restoring')
  return become(server, body.id, 'available')
}

/** Whether a backup is being loaded into a volume that is to become a datastore's. */
export async function isBeingLoaded(id: string): Promise<boolean> {
  const names = await docker('ps', '--filter', `name=${id}-`, '--format', '{{.Names}}')
  const programs = names
    .split('\n')
    .filter(Boolean)
    .map((name) => docker('top', name).catch(() => ''))
  return (await Promise.all(programs)).some((text) => text.includes('pg_restore'))
}

/** Rows that take a dump some seconds to compress, to more than 16 MiB. */
export async function grow(db: Datastore): Promise<void> {
  await query(
    db.external_url,
    'CREATE TABLE big AS SELECT md5(i::text) || md5((i * 7)::text) AS t FROM generate_series(1, 600000) i',
  )
}

/** Puts incompressible data of so many MiB into the key-value store. */
export async function fill(cache: Datastore, mib: number): Promise<void> {
  await keyvalue(cache.external_url, async (client) => {
    for (let at = 0; at < mib; at++) await client.set(`big-${at}`, randomBytes(1024 * 1024))
  })
}

/** Creates a datastore, without waiting for it. */
export async function create(server: TestServer, input: object): Promise<Datastore> {
  const { status, body } = await server.api('POST', '/datastores', input)
  expect(status).toBe(201)
  return body as Datastore
}

export async function read(server: TestServer, id: string): Promise<Datastore> {
  return (await server.api('GET', `/datastores/${id}`)).body as Datastore
}

/** Waits until a datastore has a status. */
export function become(server: TestServer, id: string, status: string): Promise<Datastore> {
  return waitFor(async () => {
    const datastore = await read(server, id)
    return datastore.status === status ? datastore : null
  }, `${id} to be ${status}`)
}

/** Runs one query as a user of the host would; over TLS if an authority is given, which verifies the server. */
export async function query(url: string, sql: string, ca?: string): Promise<unknown[][]> {
  const ssl = ca === undefined ? {} : { ssl: { ca } }
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000, ...ssl })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows as unknown[][]
  } finally {
    await client.end()
  }
}

async function signIn(url: string, ca?: string) {
  const tls = ca === undefined ? {} : { tls: true as const, ca }
  const client = createClient({ url, socket: { reconnectStrategy: false, ...tls } })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Uses a key-value store as a user of the host would; over TLS if an authority is given. */
export async function keyvalue<T>(
  url: string,
  work: (client: Awaited<ReturnType<typeof signIn>>) => Promise<T>,
  ca?: string,
): Promise<T> {
  const client = await signIn(url, ca)
  try {
    return await work(client)
  } finally {
    client.destroy()
  }
}

/** The address at which a key-value store speaks TLS. */
export function tlsUrlOf({ external_url, host_port, host_tls_port }: Datastore): string {
  return external_url.replace('redis://', 'rediss://').replace(`:${host_port}`, `:${host_tls_port}`)
}

/** The volume that a datastore's container uses; its image may declare others, which stay empty. */
export async function volumeOf(id: string): Promise<string> {
  const mounts = await docker('inspect', '-f', '{{range .Mounts}}{{.Name}} {{end}}', id)
  return mounts.split(' ').find((name) => name.startsWith(id))!
}

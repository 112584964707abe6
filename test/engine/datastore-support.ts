import { createClient } from '@redis/client'
import { Client } from 'pg'
import { expect } from 'vitest'
import type { TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { docker } from './live.ts'

/** What an image that is not here takes to be fetched and a program to start on a busy machine. */
const LIMIT_MS = 90_000

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
}

/** Makes a datastore; it is on its way. */
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
  return waitFor(
    async () => {
      const datastore = await read(server, id)
      return datastore.status === status ? datastore : null
    },
    `${id} to be ${status}`,
    LIMIT_MS,
  )
}

/** Runs one query as its own user of the host would. */
export async function query(url: string, sql: string): Promise<unknown[][]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows as unknown[][]
  } finally {
    await client.end()
  }
}

async function signIn(url: string) {
  const client = createClient({ url, socket: { reconnectStrategy: false } })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Does something with a key-value store as a user of the host would. */
export async function keyvalue<T>(
  url: string,
  work: (client: Awaited<ReturnType<typeof signIn>>) => Promise<T>,
): Promise<T> {
  const client = await signIn(url)
  try {
    return await work(client)
  } finally {
    client.destroy()
  }
}

/** The volume that a datastore's container uses; its image may declare further ones, which stay empty. */
export async function volumeOf(id: string): Promise<string> {
  const mounts = await docker('inspect', '-f', '{{range .Mounts}}{{.Name}} {{end}}', id)
  return mounts.split(' ').find((name) => name.startsWith(id))!
}

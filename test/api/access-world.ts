import { databaseOf } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { Browser } from './account-client.ts'
import { operationsOf, type NamedOperation, type OpenApi } from './document.ts'

/** In the values of all variables. */
const VALUE = 's3cr3t-value'
/** The secret file of each service and env group. */
const FILE = 'key.pem'

/** What a service has, by the names of path parameters and fields. */
export interface Holdings {
  environment: string
  environment_id: string
  service: string
  name: string
  deploy_id: string
  job_id: string
  disk_backup_id: string
  datastore: string
  datastore_name: string
  backup_id: string
  group: string
  group_name: string
}

export interface Access {
  mode: 'read' | 'deploy' | 'full'
  secrets?: boolean
  environments?: string[]
  services?: string[]
}

export interface Reply {
  status: number
  /** The whole body; of a stream, what came until `end`, or nothing if it goes on. */
  text: string
  type: string
}

/** A server with two environments that have the same things, each with its own names, and what asks it. */
export class AccessWorld {
  declare readonly server: TestServer
  declare readonly browser: Browser
  declare readonly operations: NamedOperation[]
  /** Production. */
  declare readonly theirs: Holdings
  /** Staging. */
  declare readonly ours: Holdings
  /** Another service of staging. */
  declare readonly beside: string
  /** What no caller without `secrets` may see. */
  declare readonly secrets: string[]

  private constructor(fields: Omit<AccessWorld, 'token' | 'ask' | 'sql'>) {
    Object.assign(this, fields)
  }

  static async create(): Promise<AccessWorld> {
    const server = await startServer()
    const browser = await new Browser(server.url).setUp(server.setupCode)
    const document = (await server.request('GET', '/api/openapi.json')).body as OpenApi
    const operations = operationsOf(document).filter(({ operation }) =>
      operation.security.some((scheme) => 'token' in scheme),
    )
    const made = async (path: string, body: object) => {
      const answer = await server.api('POST', path, body)
      if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
      return answer.body
    }
    await made('/environments', { name: 'staging' })
    const theirs = await holdings(server, made, 'production', 'lion')
    const ours = await holdings(server, made, 'staging', 'goat')
    const { id: beside } = await made('/services', {
      ...{ name: 'goat-beside', environment: 'staging', image: 'busybox:1', deploy: false },
      env: [{ key: 'BESIDE', value: `${VALUE} beside` }],
    })
    const chat = await made('/notifications', {
      ...{ name: 'lion-chat', kind: 'webhook', url: 'https://example.com/hooks/a-long-secret-path' },
    })
    const drain = await made('/log-drains', {
      ...{ name: 'lion-drain', kind: 'loki', url: 'https://logs.example.com/a-long-drain-path' },
    })
    const secrets = [VALUE, Buffer.from(VALUE).toString('base64'), chat.url, drain.url]
    for (const { service, datastore } of [theirs, ours]) {
      secrets.push((await server.api('GET', `/services/${service}`)).body.deploy_hook_key)
      secrets.push((await server.api('GET', `/datastores/${datastore}`)).body.password)
    }
    const fields = { server, browser, operations, theirs, ours, beside, secrets }
    return new AccessWorld(fields)
  }

  /** A new token with this access. */
  async token(access?: Access, more: object = {}): Promise<string> {
    const answer = await this.browser.post('/auth/tokens', { name: 'a token', access, ...more })
    if (answer.status !== 201) throw new Error(`no token was made: ${JSON.stringify(answer.body)}`)
    return answer.body.token as string
  }

  /** Sends a request, with the path of the document's own form or below /api/v1. */
  async ask(token: string, method: string, path: string, body?: unknown): Promise<Reply> {
    const whole = /^\/(?:api|metrics|mcp)/.test(path) ? path : `/api/v1${path}`
    const left = new AbortController()
    const response = await fetch(this.server.url + whole, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: left.signal,
    })
    const type = response.headers.get('content-type') ?? ''
    const goesOn = type.startsWith('text/event-stream') && whole.startsWith('/api/v1/events')
    const text = goesOn ? '' : await response.text()
    left.abort()
    return { status: response.status, text, type }
  }

  /** Changes the database under the server, or reads it. */
  sql(sql: string, ...values: (string | number | null)[]): Record<string, unknown>[] {
    return change(this.server, sql, ...values)
  }
}

function change(
  server: TestServer,
  sql: string,
  ...values: (string | number | null)[]
): Record<string, unknown>[] {
  const database = databaseOf(server.dataDirectory)
  try {
    return database.prepare(sql).all(...values)
  } finally {
    database.close()
  }
}

type Make = (path: string, body: object) => Promise<any> // oxlint-disable-line no-explicit-any -- tests look freely

/** One of each thing in an environment; every name begins with `animal`. */
async function holdings(
  server: TestServer,
  made: Make,
  environment: string,
  animal: string,
): Promise<Holdings> {
  const group = await made('/env-groups', {
    ...{ name: `${animal}-group`, vars: [{ key: 'SHARED', value: `${VALUE} of ${animal}` }] },
  })
  const datastore = await made('/datastores', { kind: 'relational', name: `${animal}-db`, environment })
  const service = await made('/services', {
    ...{ name: `${animal}-web`, environment, image: 'busybox:1', env_groups: [`${animal}-group`] },
    ...{ env: [{ key: 'KEY', value: `${VALUE} in ${animal}` }], disk_mount_path: '/data' },
    custom_domains: [`${animal}.example.org`],
  })
  for (const holder of [`/env-groups/${group.id}`, `/services/${service.id}`]) {
    const file = { content: `${VALUE} in a file of ${animal}` }
    await server.api('PUT', `${holder}/secret-files/${FILE}`, file)
  }
  const ids = { job: `job-${hex(animal)}`, backup: `bak-${hex(animal)}`, disk: `dbk-${hex(animal)}` }
  const deployId = service.latest_deploy.id as string
  change(
    server,
    `INSERT INTO jobs (id, sequence, service_id, status, trigger, own_command, deploy_id, created_at)
     VALUES (?1, (SELECT coalesce(max(sequence), 0) + 1 FROM jobs), ?2, 'succeeded', 'manual', 1, ?3, 0)`,
    ids.job,
    service.id,
    deployId,
  )
  const BACKUP = `INSERT INTO backups (id, datastore_id, service_id, disk, status, trigger, size_bytes, sha256, created_at)
    VALUES (?, ?, ?, ?, 'succeeded', 'manual', 4, 'x', 0)`
  change(server, BACKUP, ids.backup, datastore.id, null, null)
  change(server, BACKUP, ids.disk, null, service.id, 'data')
  const place = (await server.api('GET', `/environments/${environment}`)).body
  return {
    environment,
    environment_id: place.id,
    service: service.id,
    name: service.name,
    deploy_id: deployId,
    job_id: ids.job,
    disk_backup_id: ids.disk,
    datastore: datastore.id,
    datastore_name: datastore.name,
    backup_id: ids.backup,
    group: group.id,
    group_name: group.name,
  }
}

function hex(text: string): string {
  return Buffer.from(text).toString('hex').padEnd(20, '0')
}

/** The path of an operation that names what is held. */
export function pathOf({ path }: Pick<NamedOperation, 'path'>, held: Holdings): string {
  const isDisk = path.includes('/disk/')
  const ids: Record<string, string> = {
    id: idIn(path, held),
    deploy_id: held.deploy_id,
    job_id: held.job_id,
    backup_id: isDisk ? held.disk_backup_id : held.backup_id,
    group: held.group,
    name: FILE,
    domain: `${held.name.split('-')[0]}.example.org`,
  }
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'nobody')
}

function idIn(path: string, held: Holdings): string {
  if (path.includes('/services/')) return held.service
  if (path.includes('/datastores/')) return held.datastore
  if (path.includes('/env-groups/')) return held.group
  if (path.includes('/environments/')) return held.environment_id
  return 'nobody'
}

/** The same ids as those of nothing. */
export function nothing(held: Holdings): Holdings {
  const other = Object.entries(held).map(([field, text]) => [
    field,
    text.replace(/[0-9a-f]{20}$/, (digits: string) =>
      digits.split('').toReversed().join('').replace(/^0/, '1'),
    ),
  ])
  return Object.fromEntries(other)
}

/** An answer in which what was asked for is left out, to compare it with the answer about something else. */
export function without(text: string, asked: Holdings): string {
  return Object.entries(asked)
    .filter(([field]) => field !== 'environment')
    .map(([, name]) => name)
    .toSorted((left, right) => right.length - left.length)
    .reduce((left, name) => left.replaceAll(name, '<asked>'), text)
}

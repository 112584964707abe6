import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { exchange } from '../support/wire.ts'
import { operationsOf, type OpenApi } from './document.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

/** What is wrong by itself, whatever the path names, by operation. */
const WRONG_BODIES: Record<string, unknown[]> = {
  'PATCH /blueprints/{id}': [
    { branch: 'a..b' },
    { path: '/etc/passwd' },
    { repo_url: 'file:///srv' },
    { name: 'A' },
  ],
  'POST /datastores/{id}/backups/{backup_id}/restore': [{ name: 'Not a label' }],
  'PATCH /datastores/{id}': [{ memory_limit_mb: 15 }, { cpu_limit: -1 }, { backup_schedule: 'daily' }],
  'POST /datastores/{id}/upgrade': [{}, { version: 'a b' }],
  'PATCH /domains/{id}': [{ is_default: 'yes' }],
  'PATCH /env-groups/{id}/env': [
    { set: [{ key: '1ST', value: '' }] },
    { set: { DEPLOYER_PORT: '1' } },
    { set: { A: '${{nothing}}' } },
    { set: { A: 'a' }, unset: ['A'] },
  ],
  'PUT /env-groups/{id}/env': [
    { vars: [{ key: 'NOT-ONE', value: '' }] },
    { vars: [{ key: 'A', value: '\0' }] },
  ],
  'PUT /env-groups/{id}/secret-files/{name}': [{}, { content: '', path: '/etc/passwd' }],
  'PUT /services/{id}/secret-files/{name}': [{}, { content: '', mode: '4755' }],
  'PATCH /environments/{id}': [
    { name: 'other' },
    { edge_defaults: { redirects: [] } },
    { edge_defaults: { ip_allow_list: [{ source: 'nobody' }] } },
    { edge_defaults: { basic_auth: { users: [] } } },
  ],
  'PATCH /log-drains/{id}': [{ url: 'nonsense' }, { url: 'tcp://logs.example.com' }, { token: 'a b' }],
  'PATCH /notifications/{id}': [
    { url: 'ftp://example.com' },
    { url: 'https://a%zz@example.com' },
    { url: 'http://169.254.169.254/' },
    { to: [] },
  ],
  'PATCH /redirects/{id}': [{ to: 'nonsense' }, { host: '192.0.2.1' }, { status: 200 }],
  'PATCH /registry-credentials/{id}': [{ host: 'acme' }, { username: 'a:b' }, { path_prefix: '/' }],
  'PATCH /services/{id}': [
    { instances: -1 },
    { custom_domains: ['*.example.com'] },
    { canonical_domain: '192.0.2.1' },
    { env: [{ key: 'A-B', value: '' }] },
    { image: 'Not An Image' },
    { registry_credential: 'x'.repeat(64) },
    { schedule: '0 0 31 2 *' },
    { disk_backup_schedule: 'daily' },
    { disk_backup_retention: 0 },
  ],
  'POST /services/{id}/disk/backups': [{ suspend: 'yes' }, { disk: 1 }],
  'POST /services/{id}/disk/backups/{backup_id}/restore': [{ service: '' }, { name: 'api' }],
  'POST /services/{id}/changes/discard': [{ settings: ['instances'] }, { variables: 'A' }, { all: true }],
  'POST /services/{id}/deploys': [{ commit: '-x' }],
  'POST /services/{id}/domains': [{}, { domain: 'a_b.example.com' }, { domain: '192.0.2.1' }],
  'POST /services/{id}/env-groups': [{}, { group: '' }],
  'PATCH /services/{id}/env': [
    { set: { 'A B': '' } },
    { set: { A: '${{service.x.nothing}}' } },
    { set: { A: 'a' }, unset: ['A'] },
  ],
  'PUT /services/{id}/env': [
    {},
    { vars: [{ key: '', value: '' }] },
    { vars: [{ key: 'DEPLOYER_X', value: '' }] },
    {
      vars: [
        { key: 'A', value: '1' },
        { key: 'A', value: '2' },
      ],
    },
    { vars: [{ key: 'A', value: 'x'.repeat(64 * 1024 + 1) }] },
    { vars: Array.from({ length: 1_001 }, (_, at) => ({ key: `A${at}`, value: '' })) },
  ],
  'POST /services/{id}/jobs': [{ command: ' ' }],
  'POST /services/{id}/rollback': [{}],
  'POST /services/{id}/shells': [
    {},
    { rows: 0, cols: 80 },
    { rows: 24, cols: 80, instance: 'a', fresh: true },
  ],
  'POST /datastores/{id}/shells': [{}, { rows: 24, cols: 1_001 }],
  'POST /services/{id}/scale': [{}, { instances: 1.5 }],
  'PATCH /nodes/{id}': [{ name: 'A b' }, { availability: 'gone' }, { labels: { a: 1 } }],
  'POST /services/{id}/move': [{}, { node: 'worker-1', from_backup: 'yes' }],
  'POST /datastores/{id}/move': [{}, { node: 5 }],
}

/** The same for queries. */
const WRONG_QUERIES: Record<string, string[]> = {
  'GET /services/{id}/logs': [
    'tail=-1',
    'since=yesterday',
    'search=/(/',
    'until=1h&since=1m',
    'deploy=',
    'level=all',
  ],
  'GET /datastores/{id}/logs': ['follow=maybe', 'search=/a**/', 'stream=all'],
  'GET /services/{id}/deploys': ['limit=ten', 'environment='],
  'GET /services/{id}/jobs': ['limit=1.5'],
  'DELETE /services/{id}': ['force=perhaps'],
  'DELETE /env-groups/{id}': ['restart=perhaps'],
}

/** Errors together with a name that is in use, or that does not exist. */
const WRONG_CREATIONS: [path: string, body: object][] = [
  ['/services', { name: 'taken', port: 0 }],
  ['/services', { name: 'taken', env: [{ key: 'A-B', value: '' }] }],
  ['/services', { name: 'taken', custom_domains: ['a_b.example.com'] }],
  ['/services', { name: 'taken', type: 'cron_job' }],
  ['/services', { name: 'taken', image: 'a', repo_url: 'https://git.example.com/a.git' }],
  ['/services', { name: 'new', environment: 'nobody', port: 3_000, type: 'background_worker' }],
  ['/services', { name: 'new', env_groups: ['nobody'], env: [{ key: '', value: '' }] }],
  ['/datastores', { name: 'taken', kind: 'document' }],
  ['/datastores', { name: 'taken', kind: 'keyvalue', database: 'app' }],
  ['/datastores', { name: 'new', kind: 'keyvalue', username: 'app', environment: 'nobody' }],
  ['/env-groups', { name: 'taken', vars: [{ key: 'A-B', value: '' }] }],
  ['/environments', { name: 'production', region: 'fra1' }],
  ['/domains', { name: 'localhost:80' }],
  ['/log-drains', { name: 'new', kind: 'http', url: 'ftp://example.com', environment: 'nobody' }],
  ['/log-drains', { name: 'new', kind: 'syslog', url: 'https://example.com', services: ['nobody'] }],
  ['/redirects', { host: 'panel.example.net', to: '/nowhere' }],
  ['/registry-credentials', { name: 'taken', host: 'acme', username: 'x', password: 'y' }],
  ['/notifications', { name: 'new', kind: 'webhook', environment: 'nobody' }],
  ['/notifications', { name: 'new', kind: 'ntfy', url: 'https://ntfy.example.com//' }],
  ['/notifications', { name: 'new', kind: 'ntfy', url: 'https://ntfy.example.com/%zz' }],
  ['/notifications', { name: 'new', kind: 'webhook', url: 'nonsense', services: ['nobody'] }],
  [
    '/blueprints',
    { name: 'new', repo_url: 'https://git.example.com/a.git', branch: '-', environment: 'nobody' },
  ],
  ['/blueprints/apply', { yaml: 1, environment: 'nobody' }],
  [
    '/git/authorize',
    { connection_id: 'git-00000000000000000000', redirect_uri: 'https://example.com/elsewhere' },
  ],
  [
    '/git/authorize',
    {
      connection_id: 'git-00000000000000000000',
      redirect_uri: 'https://example.com/git/callback',
      base_url: 'nonsense',
    },
  ],
]

describe('a request that is wrong by itself', () => {
  it('is 400 whatever its path names, in every operation with a path that takes a body', async () => {
    const document = (await server.request('GET', '/api/openapi.json')).body as OpenApi
    const taking = operationsOf(document)
      .filter(({ path, operation: { requestBody, security } }) => {
        const takesToken = security.some((scheme) => 'token' in scheme)
        return path.includes('{') && takesToken && requestBody?.content['application/json']
      })
      .map(({ name }) => name.replace('/api/v1', ''))
    expect(Object.keys(WRONG_BODIES).toSorted()).toEqual(taking.toSorted())
    const answers = Object.entries(WRONG_BODIES).flatMap(([name, bodies]) =>
      bodies.map((body) => codeOf(name, '', body)),
    )
    expect((await Promise.all(answers)).filter(isNoRefusal)).toEqual([])
  })

  it('is 400 whatever its path names, if its query is wrong', async () => {
    const answers = Object.entries(WRONG_QUERIES).flatMap(([name, queries]) =>
      queries.map((query) => codeOf(name, `?${query}`)),
    )
    expect((await Promise.all(answers)).filter(isNoRefusal)).toEqual([])
  })

  it('is 400 although its name is in use, or it names something missing', async () => {
    for (const path of ['/services', '/env-groups'])
      expect((await server.api('POST', path, { name: 'taken' })).status).toBe(201)
    const answers = WRONG_CREATIONS.map(([path, body]) => codeOf(`POST ${path}`, '', body))
    expect((await Promise.all(answers)).filter(isNoRefusal)).toEqual([])
  })

  it.each([
    [{ to: 5 }, 'to: must be an e-mail address or an array of them'],
    [{ to: 'nobody' }, 'to: must be an e-mail address or an array of them'],
    [{ events: [] }, 'events: must have at least 1 item'],
    [{ name: '' }, 'name: must have at least 1 character'],
  ])('says once what %o must be', async (fault, message) => {
    const notification = { name: 'new', kind: 'webhook', url: 'https://example.com/', ...fault }
    const { body } = await server.api('POST', '/notifications', notification)
    expect(body.error.message).toBe(message)
  })

  it('is 401 without credentials', async () => {
    const answer = await server.request('PUT', '/api/v1/services/nobody/env', { vars: 'none' })
    expect(answer.status).toBe(401)
  })
})

describe('a body over its limit', () => {
  const MIB = 1024 * 1024

  /** The answer to a head that declares a body, of which nothing is sent. */
  async function declared(name: string, bytes: number): Promise<string> {
    const [method, path] = name.split(' ') as [string, string]
    const target = `/api/v1${path.replaceAll(/\{\w+\}/g, 'nobody')}?unheard=of`
    const lines = [`${method} ${target} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${server.token}`]
    const answer = await exchange(server.url, [...lines, `Content-Length: ${bytes}`])
    return `${answer.split(' ')[1]} ${name}`
  }

  it('is 413 whatever else is wrong, in every operation that changes something', async () => {
    const document = (await server.request('GET', '/api/openapi.json')).body as OpenApi
    const changing = operationsOf(document)
      .filter(({ method, operation }) => method !== 'get' && operation.security.some((way) => 'token' in way))
      .map(({ name }) => name.replace('/api/v1', ''))
    const limitOf = (name: string) => (/ \/detect$|\/upload$/.test(name) ? 512 * MIB : 2 * MIB)
    const answers = await Promise.all(changing.map((name) => declared(name, limitOf(name) + 1)))
    expect(answers.filter((answer) => !answer.startsWith('413 '))).toEqual([])
  })
})

describe('a deletion with a body', () => {
  it('follows the rules of every other change', async () => {
    const deletion = (body: string) => server.api('DELETE', '/services/nobody', body)
    expect((await deletion('{"force": true}')).body.error.message).toBe('force: unknown field')
    for (const body of ['{', '[]', 'null']) expect((await deletion(body)).status).toBe(400)
    for (const body of ['', '{}']) expect((await deletion(body)).status).toBe(404)
  })
})

/** What an operation answers if its path names nothing that exists. */
async function codeOf(name: string, query: string, body?: unknown): Promise<string> {
  const [method, path] = name.split(' ') as [string, string]
  const { status, body: answer } = await server.api(
    method,
    path.replaceAll(/\{\w+\}/g, 'nobody') + query,
    body,
  )
  const { code, message } = (answer?.error ?? {}) as { code?: string; message?: string }
  return `${status} ${code}: ${name}${query} ${JSON.stringify(body)?.slice(0, 200)}: ${message}`
}

function isNoRefusal(answer: string): boolean {
  return !answer.startsWith('400 invalid_request: ')
}

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { McpHost, type Revision } from '../support/mcp.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { Browser, send } from './account-client.ts'

const SECRET = 's3cr3t-value-of-a-variable'
const REVISIONS: Revision[] = ['2026-07-28', 'before']

let server: TestServer
/** What no answer may contain. */
let secrets: string[]
const hosts: McpHost[] = []
let browser: Browser

beforeAll(async () => {
  server = await startServer()
  browser = await new Browser(server.url).setUp(server.setupCode)
  const made = async (path: string, body: object) => {
    const answer = await server.api('POST', path, body)
    expect(answer.status).toBe(201)
    return answer.body
  }
  await made('/environments', { name: 'staging' })
  await made('/env-groups', { name: 'shared', vars: [{ key: 'SHARED_TOKEN', value: SECRET }] })
  const datastore = await made('/datastores', { kind: 'relational', name: 'db' })
  const service = await made('/services', {
    name: 'web',
    repo_url: `https://user:${SECRET}@git.example.com/team/web.git`,
    env: [
      { key: 'API_KEY', value: SECRET },
      { key: 'DATABASE_URL', value: '${{datastore.db.url}}' },
    ],
    env_groups: ['shared'],
    deploy: false,
  })
  await made('/services', {
    ...{ name: 'site', environment: 'staging', type: 'static_site' },
    repo_url: `https://user:${SECRET}@git.example.com/team/site.git`,
  })
  await made('/services', { name: 'worker', environment: 'staging', image: 'busybox:1', deploy: false })
  secrets = [SECRET, datastore.password, service.deploy_hook_key, server.token]
})

afterAll(async () => {
  await Promise.all(hosts.map((host) => host.close()))
  await server?.stop()
})

async function host(path = '/mcp', revision: Revision = '2026-07-28'): Promise<McpHost> {
  const made = await McpHost.overHttp(server, path, revision)
  hosts.push(made)
  return made
}

function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const sent = {
    authorization: `Bearer ${server.token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...headers,
  }
  return server.request('POST', path, body, { headers: sent })
}

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' }
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }

describe.each(['/mcp', '/mcp/write'])('%s', (path) => {
  test('takes nothing but an API token', async () => {
    expect((await browser.get('/services')).status).toBe(200)
    const wrong = { authorization: `Bearer dpl_${'0'.repeat(40)}` }
    const sent: Record<string, string>[] = [
      {},
      { cookie: browser.cookie! },
      { ...wrong, cookie: browser.cookie! },
    ]
    for (const headers of sent) {
      const answer = await send('POST', server.url + path, PING, { ...headers, origin: server.url })
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer'])
    }
    const inQuery = await server.request('POST', `${path}?access_token=${server.token}`, PING)
    expect(inQuery.status).toBe(401)
    expect((await post(path, PING)).status).toBe(200)
  })

  test('refuses pages of others, whatever they send', async () => {
    const sent: Record<string, string>[] = [{}, { authorization: `Bearer ${server.token}` }]
    for (const headers of sent) {
      for (const origin of ['https://evil.example', 'null', `${server.url}0`]) {
        const { status, body } = await send('POST', server.url + path, PING, { ...headers, origin })
        expect([status, body.error.code]).toEqual([403, 'cross_site_request'])
      }
    }
    const own = {
      authorization: `Bearer ${server.token}`,
      'content-type': 'application/json',
      origin: server.url,
    }
    expect((await send('POST', server.url + path, PING, own)).status).toBe(200)
  })

  test('has no other method', async () => {
    const headers = { authorization: `Bearer ${server.token}`, accept: 'text/event-stream' }
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const answer = await server.request(method, path, undefined, { headers })
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'POST'])
    }
  })

  test('takes bodies of up to 2 MiB, and only JSON', async () => {
    const long = { ...PING, params: { _meta: { padding: 'x'.repeat(2 * 1024 * 1024) } } }
    expect((await post(path, long)).status).toBe(413)
    const shorter = { ...PING, params: { _meta: { padding: 'x'.repeat(2 * 1024 * 1024 - 200) } } }
    expect((await post(path, shorter)).status).toBe(200)
    expect((await post(path, '{"jsonrpc":')).status).toBe(400)
    expect((await post(path, '')).status).toBe(400)
    expect((await post(path, PING, { 'content-type': 'text/plain' })).status).toBe(415)
    expect(
      (
        await post(
          path,
          Array.from({ length: 200 }, () => PING),
        )
      ).status,
    ).toBe(400)
  })

  test('answers with JSON, to clients that take only that as well', async () => {
    const { status, headers, body } = await post(path, LIST, { accept: 'application/json' })
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(headers.get('mcp-session-id')).toBeNull()
    expect(body.result.tools.some(({ name }: { name: string }) => name === 'get_service')).toBe(true)
  })
})

describe('with what was there before', () => {
  test.each(REVISIONS)('a client of revision %s reads everything, and no secret', async (revision) => {
    const reading = await host('/mcp', revision)
    const { tools } = await reading.client.listTools()
    expect(tools.every(({ annotations }) => annotations!.readOnlyHint)).toBe(true)
    expect(await reading.call('list_services')).toMatchObject({
      services: [{ name: 'web', environment: 'production', state: 'not_deployed' }],
    })
    const all = await reading.call('list_services', { environment: 'all' })
    expect(all.services.map(({ name }: { name: string }) => name)).toEqual(['web', 'site', 'worker'])
    expect(await reading.call('get_service', { service: 'worker.staging' })).toMatchObject({
      service: { name: 'worker', environment: 'staging', image: 'busybox:1' },
      instances: [],
    })
    expect((await reading.call('get_service', { service: 'web' })).service.repo_url).toContain('***')
    expect(await reading.call('list_deploys', { service: 'web' })).toEqual({ deploys: [] })
    expect(await reading.call('list_deploys', { service: 'site.staging' })).toMatchObject({
      deploys: [{ trigger: 'create', source: { repo_url: 'https://git.example.com/team/site.git' } }],
    })
    expect(await reading.call('list_jobs', { service: 'web' })).toEqual({ jobs: [] })
    expect(await reading.call('read_logs', { of: 'service', name: 'web', search: '/x+/' })).toEqual({
      lines: [],
    })
    expect((await reading.call('read_logs', { of: 'datastore', name: 'db' })).lines).toEqual([])
    const own = await reading.call('read_logs', { of: 'server', search: 'API and dashboard', level: 'info' })
    expect(own.lines).toMatchObject([{ level: 'info', line: expect.stringContaining(server.url) }])
    expect(await reading.call('list_variables', { service: 'web' })).toEqual({
      variables: [
        { key: 'API_KEY', reference: false },
        { key: 'DATABASE_URL', reference: true },
        { key: 'SHARED_TOKEN', group: 'shared', reference: false },
      ],
    })
    expect((await reading.call('list_variables', { group: 'shared' })).variables).toHaveLength(1)
    expect((await reading.call('list_datastores')).datastores).toMatchObject([{ name: 'db', username: 'db' }])
    expect((await reading.call('list_environments')).environments).toHaveLength(2)
    const { domains, hosts } = await reading.call('list_domains')
    expect([domains[0].name, hosts.map(({ host }: { host: string }) => host)]).toEqual([
      'localhost',
      expect.arrayContaining(['web.localhost', 'worker.staging.localhost']),
    ])
    const staging = await reading.call('list_domains', { environment: 'staging' })
    expect(staging.hosts).toMatchObject(
      ['site', 'worker'].map((name) => ({ host: `${name}.staging.localhost`, certificate: 'local' })),
    )
    expect(await reading.call('get_server')).toMatchObject({
      version: expect.any(String),
      disks: expect.any(Array),
    })
    for (const given of [{}, { service: 'web' }, { range: '1h' }, { service: 'web', range: '24h' }])
      expect((await reading.call('get_metrics', given)).range).toBe(given.range ?? 'now')
    const { yaml } = await reading.call('export_blueprint')
    expect(yaml).toMatch(/key: API_KEY\n\s+sync: false/)
    expect(await reading.call('plan_blueprint', { yaml })).toMatchObject({ actions: [], warnings: [] })
    expect(await reading.fault('get_deploy', { deploy_id: 'dep-00000000000000000000' })).toMatch(
      /^not_found: /,
    )
    expect(await reading.fault('get_job', { job_id: 'job-00000000000000000000' })).toMatch(/^not_found: /)
    expect(await reading.fault('get_service', { service: 'wbe' })).toMatch(
      /^not_found: .*Did you mean web\?$/,
    )
    expect(await reading.fault('detect_source', { repo_url: 'file:///etc' })).toMatch(
      /^invalid_request: repo_url/,
    )
    expect(await reading.fault('plan_blueprint', { yaml: 'services:\n  - nam: x' })).toMatch(
      /^invalid_request: 2:5: /,
    )
    const resource = await reading.client.readResource({ uri: 'deployer://services/production/web' })
    reading.answers += JSON.stringify([
      resource,
      await reading.client.listResources(),
      await reading.client.listPrompts(),
    ])
    expect(secrets.filter((secret) => reading.answers.includes(secret))).toEqual([])
    await expect(reading.client.callTool({ name: 'scale_service', arguments: {} })).rejects.toMatchObject({
      code: -32602,
    })
  })
})

describe('at the other address', () => {
  test.each(REVISIONS)('a client of revision %s writes, and learns no secret by it', async (revision) => {
    const writing = await host('/mcp/write', revision)
    const name = revision === 'before' ? 'old' : 'new'
    const made = await writing.call('create_service', {
      ...{ name, type: 'private_service', env: [{ key: 'PASSWORD', value: SECRET }] },
    })
    expect(made).toMatchObject({ service: { name, state: 'not_deployed' } })
    expect(await writing.call('create_datastore', { kind: 'keyvalue', name: `${name}-cache` })).toMatchObject(
      {
        datastore: { kind: 'keyvalue' },
      },
    )
    const set = { service: name, set: { TOKEN: SECRET, PLAIN: '1' }, unset: ['PASSWORD'] }
    expect(await writing.call('set_variables', set)).toEqual({
      set: ['TOKEN', 'PLAIN'],
      unset: ['PASSWORD'],
      restarting: false,
    })
    await writing.call('set_variables', { group: 'shared', set: { MORE: SECRET } })
    expect(
      await writing.call('update_service', { service: name, image: 'busybox:1', port: 80 }),
    ).toMatchObject({
      service: { image: 'busybox:1' },
    })
    expect(await writing.call('scale_service', { service: name, instances: 2 })).toMatchObject({
      service: { instances: 2 },
    })
    expect(await writing.call('suspend_service', { service: name })).toMatchObject({
      service: { state: 'suspended' },
    })
    expect(await writing.fault('deploy_service', { service: name })).toMatch(/^conflict: /)
    await writing.call('resume_service', { service: name })
    const { deploy } = await writing.call('deploy_service', { service: name })
    expect(await writing.call('cancel_deploy', { deploy_id: deploy.id })).toMatchObject({
      deploy: { status: 'canceled' },
    })
    expect(await writing.fault('rollback_service', { service: name })).toMatch(/^conflict: /)
    expect(await writing.fault('restart_service', { service: name })).toMatch(/^conflict: /)
    expect(await writing.fault('run_job', { service: name, command: 'true' })).toMatch(/^conflict: /)
    expect(await writing.fault('cancel_job', { job_id: 'none' })).toMatch(/^not_found: /)
    expect(await writing.fault('backup_datastore', { datastore: `${name}-cach` })).toMatch(/Did you mean/)
    const yaml = `services:\n  - name: ${name}-b\n    type: background_worker\n`
    expect(await writing.call('apply_blueprint', { yaml })).toMatchObject({
      actions: [{ name: `${name}-b`, action: 'create' }],
    })
    expect(await writing.call('apply_blueprint', { yaml })).toMatchObject({
      actions: [],
      unchanged: 1,
      deploys: [],
    })
    expect(secrets.filter((secret) => writing.answers.includes(secret))).toEqual([])
    await expect(writing.client.callTool({ name: 'deploy_folder', arguments: {} })).rejects.toMatchObject({
      code: -32602,
    })
  })
})

test.each(REVISIONS)('a client of revision %s is told about progress, and may leave', async (revision) => {
  const writing = await host('/mcp/write', revision)
  const made = { name: `slow-${REVISIONS.indexOf(revision)}`, image: 'busybox:1', type: 'background_worker' }
  expect((await writing.call('create_service', made)).deploy.status).toBe('queued')
  const deploy = { name: 'deploy_service', arguments: { service: made.name, wait_seconds: 1 } }
  const told: string[] = []
  const onprogress = ({ message }: { message?: string | undefined }) => told.push(message!)
  const { structuredContent } = await writing.client.callTool(deploy, { onprogress })
  expect(structuredContent).toMatchObject({ deploy: { status: 'queued' } })
  expect(new Set(told)).toEqual(new Set(['queued']))
  const leaving = new AbortController()
  const waiting = { ...deploy, arguments: { ...deploy.arguments, wait_seconds: 300 } }
  const asked = writing.client.callTool(waiting, {
    signal: leaving.signal,
    onprogress: () => leaving.abort(),
  })
  await expect(asked).rejects.toThrow()
  // The server is not held up by it.
  expect((await writing.call('list_services')).services.length).toBeGreaterThan(0)
})

test('works with a token of its own, and with none that was revoked', async () => {
  const { api_token, token } = (await browser.post('/auth/tokens', { name: 'agent' })).body
  const headers = { authorization: `Bearer ${token}` }
  const call = { ...LIST, method: 'tools/call', params: { name: 'list_environments', arguments: {} } }
  expect((await post('/mcp', call, headers)).body.result.structuredContent.environments).toBeDefined()
  await browser.delete(`/auth/tokens/${api_token.id}`)
  expect((await post('/mcp', call, headers)).status).toBe(401)
})

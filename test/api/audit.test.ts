import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { AuditEvent } from '#server/audit/schema.ts'
import { builtServer } from '../support/build.ts'
import { databaseOf } from '../support/database.ts'
import { startReceiver } from '../support/receiver.ts'
import { McpHost } from '../support/mcp.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { readEvents } from '../support/sse.ts'
import { waitFor } from '../support/wait.ts'
import { Browser } from './account-client.ts'

let server: TestServer
let browser: Browser

beforeAll(async () => {
  server = await startServer()
  browser = await new Browser(server.url).setUp(server.setupCode)
})
afterAll(() => server?.stop())

const events = async (query: string): Promise<AuditEvent[]> =>
  (await server.api('GET', `/audit-events?${query}`)).body

async function newest(query: string): Promise<AuditEvent> {
  const [event] = await events(`limit=1&${query}`)
  return event!
}

describe('what is done', () => {
  it('is recorded with who did it, from where, to what, and what changed', async () => {
    const made = await server.api('POST', '/services', {
      name: 'web',
      image: 'nginx:1',
      deploy: false,
      env: [{ key: 'KEY', value: 'hidden-value' }],
    })
    expect(await newest('action=service.created')).toMatchObject({
      outcome: 'succeeded',
      ip: '127.0.0.1',
      actor: { kind: 'server_token', id: null },
      resource: { kind: 'service', id: made.body.id, name: 'web', environment: 'production' },
      changes: expect.arrayContaining(['name: web', 'image: nginx:1', 'env.KEY: set']),
    })
    await server.api('PATCH', '/services/web', { port: 8080, memory_limit_mb: 64 })
    const patched = await newest('action=service.updated&resource=web')
    expect(patched.changes).toEqual(['port: none -> 8080', 'memory_limit_mb: 0 -> 64'])
  })

  it('names the variables that changed, never their values', async () => {
    await server.api('PATCH', '/services/web/env', { set: { KEY: 'other-hidden', NEW: 'third' }, unset: [] })
    expect((await newest('resource=web')).changes).toEqual(['env.KEY: changed', 'env.NEW: added'])
    await server.api('PATCH', '/services/web/env', { set: {}, unset: ['NEW'] })
    expect((await newest('resource=web')).changes).toEqual(['env.NEW: removed'])
    expect(JSON.stringify(await events('limit=1000'))).not.toMatch(/hidden|third/)
  })

  it('names what is in a path without being read, and what an answer does not show by itself', async () => {
    await server.api('POST', '/services/web/domains', { domain: 'web.example.org' })
    expect(await newest('action=domain')).toMatchObject({
      ...{ action: 'domain.created', resource: { name: 'web' }, changes: ['domain: web.example.org'] },
    })
    await server.api('DELETE', '/services/web/domains/web.example.org')
    expect(await newest('action=domain')).toMatchObject({
      ...{ action: 'domain.deleted', resource: { name: 'web' }, changes: ['domain: web.example.org'] },
    })
    await server.api('POST', '/env-groups', { name: 'shared' })
    await server.api('POST', '/services/web/env-groups', { group: 'shared' })
    await server.api('DELETE', '/services/web/env-groups/shared')
    const [unlinked, linked] = await events('action=service&limit=2')
    for (const event of [unlinked, linked])
      expect(event).toMatchObject({ resource: { name: 'web' }, changes: ['group: shared'] })
  })

  it('says what a blueprint changed', async () => {
    const yaml =
      'services:\n  - name: filed\n    image: nginx:1\n    env:\n      - key: X\n        value: hidden-1\n'
    await server.api('POST', '/blueprints/apply', { yaml })
    expect((await newest('action=blueprint.applied')).changes).toEqual(['service filed: created'])
    await server.api('POST', '/blueprints/apply', { yaml: yaml.replace('hidden-1', 'hidden-2') })
    expect((await newest('action=blueprint.applied')).changes).toEqual(['service filed: env.X: changed'])
  })

  it('tells that a secret was set where nobody can see whether it is another one', async () => {
    const drain = {
      name: 'd',
      kind: 'loki',
      url: 'https://logs.example.com/hidden-path',
      token: 'hidden-token',
    }
    const { id } = (await server.api('POST', '/log-drains', drain)).body
    expect((await newest('action=log_drain')).changes).toEqual([
      ...['kind: loki', 'name: d', 'url: set', 'token: set'],
    ])
    const change = {
      enabled: false,
      url: 'https://logs.example.com/other-hidden-path',
      token: 'hidden-other',
    }
    await server.api('PATCH', `/log-drains/${id}`, change)
    expect((await newest('action=log_drain')).changes).toEqual([
      ...['enabled: true -> false', 'url: set', 'token: set'],
    ])
  })

  it('is in the same transaction as the change', async () => {
    const database = databaseOf(server.dataDirectory)
    database.exec(
      "CREATE TRIGGER full BEFORE INSERT ON audit_events BEGIN SELECT RAISE(ABORT, 'no room'); END",
    )
    try {
      expect((await server.api('PATCH', '/services/web', { port: 7070 })).status).toBe(500)
    } finally {
      database.exec('DROP TRIGGER full')
      database.close()
    }
    expect((await server.api('GET', '/services/web')).body.port).not.toBe(7070)
  })

  it('is not what fails, nor what changes nothing', async () => {
    const before = (await events('limit=1000')).length
    expect((await server.api('PATCH', '/services/web', { port: -1 })).status).toBe(400)
    expect((await server.api('PATCH', '/services/none', { port: 1 })).status).toBe(404)
    await server.api('POST', '/blueprints/apply', { yaml: 'services: []', dry_run: true })
    expect(await events('limit=1000')).toHaveLength(before)
  })

  it('is said of a session by the name of its account, and of a token by its own', async () => {
    const { body } = await browser.send('POST', '/auth/tokens', { name: 'ci' })
    expect(await newest('action=token.created')).toMatchObject({
      actor: { kind: 'session', name: expect.stringContaining('@') },
      resource: { kind: 'token', id: body.api_token.id, name: 'ci' },
    })
    await fetch(`${server.url}/api/v1/services/web`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${body.token}`, 'x-request-id': 'mine.1', 'user-agent': 'ci/1' },
    })
    expect(await newest('resource=web')).toMatchObject({
      ...{ action: 'service.deleted', request_id: 'mine.1', user_agent: 'ci/1' },
      actor: { kind: 'token', id: body.api_token.id, name: 'ci' },
    })
    await server.api('DELETE', `/auth/tokens/${body.api_token.id}`)
    await browser.send('DELETE', `/auth/tokens/${body.api_token.id}`)
    expect(await newest('action=token.deleted')).toMatchObject({ resource: { name: 'ci' } })
  })

  it('is said of a terminal by its name, and of what an agent does by where the agent is', async () => {
    const { body: login } = await server.request('POST', '/api/v1/auth/cli', { name: 'laptop' })
    await browser.post(`/auth/cli/${login.id}/approve`, { code: login.code })
    const poll = `/api/v1/auth/cli/${login.id}/token`
    const { token } = (await server.request('POST', poll, { secret: login.secret })).body
    const host = await McpHost.overHttp(server, '/mcp/write', '2026-07-28', token)
    await host.call('scale_service', { service: 'filed', instances: 2 })
    await host.close()
    expect(await newest('actor=terminal')).toMatchObject({
      ...{ action: 'service.scaled', ip: '127.0.0.1', changes: ['instances: 2'] },
      actor: { kind: 'terminal', name: 'laptop' },
    })
  })

  it('includes commands on the host', async () => {
    const program = await builtServer()
    const words = ['token', 'create', 'from the host', '--data-dir', server.dataDirectory]
    await promisify(execFile)(process.execPath, [program, ...words])
    expect(await newest('actor=host&action=token')).toMatchObject({
      action: 'token.created',
      resource: { kind: 'token', name: 'from the host' },
      request_id: null,
    })
  })
})

describe('what is refused', () => {
  it('is recorded: sign-ins, tokens and hooks', async () => {
    await fetch(`${server.url}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'a@example.com', password: 'wrong-password' }),
    })
    expect(await newest('outcome=refused')).toMatchObject({
      action: 'account.signed_in',
      changes: ['POST /api/v1/auth/login: invalid_credentials'],
    })
    await fetch(`${server.url}/api/v1/services/web`, {
      method: 'DELETE',
      headers: { authorization: 'Bearer wrong' },
    })
    expect(await newest('outcome=refused')).toMatchObject({
      action: 'service.deleted',
      actor: { kind: 'token' },
    })
    await fetch(`${server.url}/hooks/deploy/srv-00000000000000000000?key=guessed-key`)
    const hook = await newest('outcome=refused')
    expect(hook).toMatchObject({ action: 'deploy.created', actor: { kind: 'deploy_hook' } })
    expect(JSON.stringify(hook)).not.toContain('guessed')
    expect((await server.api('GET', '/auth/sessions')).status).toBe(403)
    expect(await newest('outcome=refused')).toMatchObject({ actor: { kind: 'server_token' } })
  })

  it('names what a known caller wanted, whether it exists or not', async () => {
    const { body } = await browser.post('/auth/tokens', { name: 'reader', access: { mode: 'read' } })
    for (const service of ['read', 'srv-00000000000000000000']) {
      await fetch(`${server.url}/api/v1/services/${service}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${body.token}` },
      })
      expect(await newest('actor=reader')).toMatchObject({
        ...{ action: 'service.deleted', outcome: 'refused' },
        resource: service === 'read' ? { kind: 'service', name: 'read' } : { kind: 'service', id: service },
      })
    }
  })

  it.each(['a stranger', 'a token'])(
    'to %s is counted beyond a limit, not stored without end',
    async (who) => {
      const body = { name: 'flood', access: { mode: 'read' } }
      const token = who === 'a token' ? (await browser.post('/auth/tokens', body)).body.token : 'x'
      const before = (await events('outcome=refused&limit=1000')).length
      const ask = () =>
        fetch(`${server.url}/api/v1/services`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: '{}',
        })
      for (let times = 0; times < 70; times++) await ask()
      expect((await events('outcome=refused&limit=1000')).length - before).toBeLessThan(70)
    },
  )
})

describe('reads of secrets', () => {
  it('are recorded once for a while', async () => {
    const { body } = await server.api('POST', '/services', { name: 'read', image: 'nginx:1', deploy: false })
    for (let times = 0; times < 3; times++) await server.api('GET', '/services/read/env')
    expect(await events(`resource=${body.id}&action=service.variables_read`)).toMatchObject([
      { resource: { name: 'read' }, changes: [] },
    ])
  })
})

describe('the log', () => {
  it('is filtered by time, actor, kind and outcome, and exported as lines', async () => {
    const all = await events('limit=1000')
    expect(all.map(({ at }) => at)).toEqual(
      all
        .map(({ at }) => at)
        .toSorted()
        .toReversed(),
    )
    const middle = all[Math.floor(all.length / 2)]!
    expect((await events(`limit=1000&since=${middle.at}`)).every(({ at }) => at >= middle.at)).toBe(true)
    expect((await events(`limit=1000&until=${middle.at}`)).every(({ at }) => at < middle.at)).toBe(true)
    for (const { action } of await events('action=token')) expect(action).toMatch(/^token\./)
    expect((await server.api('GET', '/audit-events?since=yesterday')).status).toBe(400)
    const response = await fetch(`${server.url}/api/v1/audit-events?actor=host`, {
      headers: { authorization: `Bearer ${server.token}`, accept: 'application/x-ndjson' },
    })
    expect(response.headers.get('content-type')).toBe('application/x-ndjson')
    const lines = (await response.text()).trim().split('\n')
    expect(lines.map((line) => JSON.parse(line) as AuditEvent)).toEqual(await events('actor=host'))
  })

  it('is followed: the newest events, then each that comes', async () => {
    const leave = new AbortController()
    const response = await fetch(`${server.url}/api/v1/audit-events?follow&limit=2&action=environment`, {
      headers: { authorization: `Bearer ${server.token}` },
      signal: leave.signal,
    })
    const stream = readEvents(response)
    await server.api('POST', '/environments', { name: 'seen' })
    const { value } = await stream.next()
    expect([value!.event, JSON.parse(value!.data)]).toMatchObject([
      'audit',
      { action: 'environment.created', resource: { name: 'seen' } },
    ])
    leave.abort()
  })

  it('is forwarded by a log drain that asks for it, from then on', async () => {
    const receiver = await startReceiver()
    onTestFinished(() => receiver.close())
    const sent = () =>
      receiver.received
        .flatMap(({ body }) => body.trimEnd().split('\n'))
        .map((line) => JSON.parse(line) as { stream: string; service: string; line: string })
    const input = { kind: 'http', name: 'archive', url: receiver.url }
    const { id, ...drain } = (await server.api('POST', '/log-drains', input)).body
    expect(drain).toMatchObject({ audit: false })
    await server.api('POST', '/environments', { name: 'unsent' })
    expect((await server.api('PATCH', `/log-drains/${id}`, { audit: true })).body.audit).toBe(true)
    await server.api('POST', '/environments', { name: 'told' })
    await waitFor(() => sent().some(({ line }) => line.includes('told')), 'the event')
    expect(sent().every(({ stream, service }) => stream === 'audit' && service === 'deployer')).toBe(true)
    const forwarded = sent().map(({ line }) => JSON.parse(line) as AuditEvent)
    expect(forwarded.at(-1)).toEqual(await newest('action=environment.created'))
    expect(forwarded.some(({ resource }) => resource?.name === 'unsent')).toBe(false)
    expect((await server.api('GET', `/log-drains/${id}`)).body.sent).toBe(forwarded.length)
    await server.api('PATCH', `/log-drains/${id}`, { audit: false })
    await server.api('PATCH', `/log-drains/${id}`, { audit: true })
    await server.api('POST', '/environments', { name: 'again' })
    await waitFor(() => sent().some(({ line }) => line.includes('again')), 'the next event')
    expect(sent().filter(({ line }) => line.includes('told'))).toHaveLength(1)
    await server.api('DELETE', `/log-drains/${id}`)
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readEvents } from '../support/sse.ts'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer({
    flags: [
      ...['--base-domain', 'example.com', '--dashboard-host', 'panel.staging.example.com', '--tls', 'off'],
      ...['--dns-resolvers', '127.0.0.1:1'],
    ],
  })
})

afterAll(async () => {
  await server?.stop()
})

function create(name: string) {
  return server.api('POST', '/environments', { name })
}

describe('environments', () => {
  test('begin with production, which contains everything that names no other', async () => {
    await server.api('POST', '/services', { name: 'api' })
    const { status, body } = await server.api('GET', '/environments')
    expect(status).toBe(200)
    expect(body).toEqual([
      {
        id: expect.stringMatching(/^env-[0-9a-f]{20}$/),
        name: 'production',
        created_at: expect.stringMatching(/^\d{4}-.*Z$/),
        edge_defaults: null,
        services: ['api'],
        datastores: [],
        url_pattern: `http://<service>.example.com:${server.httpPort}`,
        dns: [{ domain: 'example.com', wildcard: '*.example.com', records: expect.any(Array) }],
      },
    ])
  })

  test('are created while the engine is down, listed after production by name, and read by id or name', async () => {
    const zeta = await create('zeta')
    const alpha = await create('alpha')
    expect(alpha).toMatchObject({
      status: 201,
      body: {
        name: 'alpha',
        services: [],
        url_pattern: `http://<service>.alpha.example.com:${server.httpPort}`,
        dns: [{ domain: 'example.com', wildcard: '*.alpha.example.com' }],
      },
    })
    const { body } = await server.api('GET', '/environments')
    expect(body.map(({ name }: { name: string }) => name)).toEqual(['production', 'alpha', 'zeta'])
    expect((await server.api('GET', '/environments/zeta')).body).toEqual(zeta.body)
    expect((await server.api('GET', `/environments/${zeta.body.id}`)).body).toEqual(zeta.body)
    expect((await server.api('GET', '/environments/nowhere')).status).toBe(404)
    const wildcard = '*.zeta.example.com'
    const checks = [
      { kind: 'dns', outcome: 'failed' },
      { kind: 'http', outcome: 'skipped' },
    ]
    expect(await server.api('POST', '/environments/zeta/verify')).toMatchObject({
      status: 200,
      body: [{ name: wildcard, leads_here: false, records: zeta.body.dns[0].records, checks }],
    })
  })

  test('have names that follow the rules of services, each once', async () => {
    expect(await create('alpha')).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
    expect(await create('production')).toMatchObject({
      status: 409,
      body: {
        error: {
          message: expect.stringMatching(/^name: production is in use by environment env-/) as string,
        },
      },
    })
    for (const name of ['', 'Big', '-x', 'x.y', 'env-00000000000000000000'])
      expect(await create(name)).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } })
    expect((await server.api('POST', '/environments', { name: 'x', more: 1 })).status).toBe(400)
  })

  test('do not take a place where the dashboard is', async () => {
    const refused = await create('staging')
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
    expect(refused.body.error.message).toContain('panel.staging.example.com')
    expect((await create('panel')).status).toBe(201)
  })

  test('have services of the same name next to each other, chosen by id or name', async () => {
    const { body: alpha } = await server.api('GET', '/environments/alpha')
    const there = await server.api('POST', '/services', { name: 'api', environment: 'alpha' })
    expect(there).toMatchObject({ status: 201, body: { environment: 'alpha' } })
    const here = await server.api('GET', '/services/api')
    expect(here.body.id).not.toBe(there.body.id)
    for (const environment of ['alpha', alpha.id])
      expect((await server.api('GET', `/services/api?environment=${environment}`)).body.id).toBe(
        there.body.id,
      )
    expect((await server.api('GET', `/services/${there.body.id}?environment=zeta`)).status).toBe(404)
    expect((await server.api('GET', '/services/api?environment=nowhere')).status).toBe(404)
    expect((await server.api('GET', '/services?environment=nowhere')).status).toBe(404)
    const listed = await server.api('GET', '/services?environment=alpha')
    expect(listed.body.map(({ id }: { id: string }) => id)).toEqual([there.body.id])
    expect((await server.api('GET', '/environments/alpha')).body.services).toEqual(['api'])
  })

  test('are deleted if they are empty, never production', async () => {
    const refused = await server.api('DELETE', '/environments/alpha')
    expect(refused.status).toBe(409)
    expect(refused.body.error.message).toContain('api')
    expect((await server.api('DELETE', '/environments/production')).status).toBe(409)
    expect((await server.api('DELETE', '/environments/zeta')).status).toBe(204)
    expect((await server.api('DELETE', '/environments/zeta')).status).toBe(404)
    expect((await create('zeta')).status).toBe(201)
  })

  test('make the change feed say that everything must be read again', async () => {
    const ended = new AbortController()
    const response = await fetch(`${server.url}/api/v1/events`, {
      headers: { authorization: `Bearer ${server.token}` },
      signal: ended.signal,
    })
    const changes: unknown[] = []
    for await (const { event, data } of readEvents(response)) {
      if (event === 'ready') await create('told')
      if (event === 'change') changes.push(JSON.parse(data))
      if (changes.length === 1) await server.api('DELETE', '/environments/told')
      if (changes.length === 2) break
    }
    ended.abort()
    const resync = { kind: 'all', id: '*', service_id: null, action: 'resync' }
    expect(changes).toEqual([resync, resync])
  })

  test('are at most 250, and one more is refused with a reason', async () => {
    const { body } = await server.api('GET', '/environments')
    for (let count = body.length; count < 250; count++)
      expect((await create(`many-${count}`)).status).toBe(201)
    const refused = await create('one-more')
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
    expect(refused.body.error.message).toMatch(/250 environments/)
  })
})

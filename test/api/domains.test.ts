import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readEvents } from '../support/sse.ts'
import { startServer, type TestServer } from '../support/server.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer({
    flags: [
      ...['--base-domain', 'apps.example.com', '--dashboard-host', 'panel.example.net', '--tls', 'off'],
      // Nothing answers there: every check fails at once.
      ...['--public-ip', '203.0.113.7,2001:db8::7', '--dns-resolvers', '127.0.0.1:1'],
    ],
  })
})

afterAll(async () => {
  await server?.stop()
})

function refused(status: number, code: string, part?: RegExp) {
  return {
    status,
    body: { error: { code, message: part ? expect.stringMatching(part) : expect.any(String) } },
  }
}

const invalid = (part?: RegExp) => refused(400, 'invalid_request', part)
const conflict = (part?: RegExp) => refused(409, 'conflict', part)

function connect(name: string) {
  return server.api('POST', '/domains', { name })
}

/** What the data plane answers at a host; 404 where it serves nothing. */
async function statusAt(host: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const { request } = await import('node:http')
  request({ host: '127.0.0.1', port: server.httpPort, headers: { host } }, (response) =>
    resolve(response.resume().statusCode!),
  )
    .on('error', reject)
    .end()
  return promise
}

describe('domains', () => {
  test('begin with the base domain, which is served from the start and listed with its records', async () => {
    const { status, body } = await server.api('GET', '/domains')
    expect(status).toBe(200)
    expect(body).toEqual([
      {
        id: expect.stringMatching(/^dom-[0-9a-f]{20}$/),
        name: 'apps.example.com',
        source: 'config',
        status: 'pending',
        is_default: true,
        local: false,
        served: true,
        url_pattern: `http://<service>.apps.example.com:${server.httpPort}`,
        records: [
          { name: '*.apps.example.com', type: 'A', value: '203.0.113.7', required: true },
          { name: '*.apps.example.com', type: 'AAAA', value: '2001:db8::7', required: false },
          { name: 'apps.example.com', type: 'A', value: '203.0.113.7', required: false },
          { name: 'apps.example.com', type: 'AAAA', value: '2001:db8::7', required: false },
        ],
        checks: expect.any(Array),
        created_at: expect.stringMatching(/Z$/),
        checked_at: expect.toSatisfy((at) => at === null || typeof at === 'string'),
        verified_at: null,
      },
    ])
  })

  test('are connected under a normal name, wait for their records, and are found by id or name', async () => {
    const { status, body } = await connect('Bücher.Example.ORG.')
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { name: 'xn--bcher-kva.example.org', source: 'api', status: 'pending', served: false },
    })
    for (const name of [body.id, body.name, 'BÜCHER.example.org', 'bücher.example.org.'])
      expect((await server.api('GET', `/domains/${encodeURIComponent(name)}`)).body.id).toBe(body.id)
    expect(await server.api('GET', '/domains/nowhere.example')).toMatchObject(refused(404, 'not_found'))
    expect(await connect('bücher.example.org')).toMatchObject(conflict(/is already a domain/))
    expect((await server.api('DELETE', `/domains/${body.name}`)).status).toBe(204)
    expect(await server.api('DELETE', `/domains/${body.name}`)).toMatchObject(refused(404, 'not_found'))
  })

  test.each([
    ['192.0.2.1'],
    ['*.example.org'],
    ['example.org:80'],
    ['example'],
    ['co.uk'],
    [`${'a.'.repeat(130)}example.org`],
    ['a b.example.org'],
    [7],
  ])('are refused if %j is not one', async (name) => {
    expect(await server.api('POST', '/domains', { name })).toMatchObject(invalid(/^name: /))
  })

  test('are served at once if they are local, and are not checked', async () => {
    const { body: service } = await server.api('POST', '/services', { name: 'local' })
    expect(await statusAt('local.lab.test')).toBe(404)
    const { body } = await connect('lab.test')
    expect(body).toMatchObject({ status: 'active', local: true, served: true, records: [], checks: [] })
    expect(await statusAt('local.lab.test')).toBe(503)
    const verified = await server.api('POST', '/domains/lab.test/verify')
    expect(verified).toMatchObject({ status: 200, body: { checked_at: null, checks: [] } })
    expect((await server.api('GET', '/services/local')).body).toMatchObject({
      hosts: ['local.apps.example.com', 'local.lab.test'],
      url: `http://local.apps.example.com:${server.httpPort}`,
    })
    expect((await server.api('DELETE', '/domains/lab.test')).status).toBe(204)
    expect(await statusAt('local.lab.test')).toBe(404)
    expect(await statusAt('local.apps.example.com')).toBe(503)
    await server.api('DELETE', `/services/${service.id}`)
  })

  test('have one default at a time: the one under which services and environments are shown', async () => {
    await server.api('POST', '/services', { name: 'shown' })
    await connect('other.test')
    expect(await server.api('PATCH', '/domains/other.test', { is_default: true })).toMatchObject({
      status: 200,
      body: { is_default: true },
    })
    const { body: domains } = await server.api('GET', '/domains')
    expect(domains.map(({ name, is_default }: Record<string, unknown>) => [name, is_default])).toEqual([
      ['other.test', true],
      ['apps.example.com', false],
    ])
    expect((await server.api('GET', '/services/shown')).body).toMatchObject({
      url: `http://shown.other.test:${server.httpPort}`,
      hosts: ['shown.other.test', 'shown.apps.example.com'],
    })
    expect((await server.api('GET', '/environments/production')).body).toMatchObject({
      url_pattern: `http://<service>.other.test:${server.httpPort}`,
      dns: [{ domain: 'apps.example.com', wildcard: '*.apps.example.com' }],
    })
    expect((await server.api('GET', '/info')).body).toMatchObject({
      base_domain: 'apps.example.com',
      default_domain: 'other.test',
    })
    expect(await server.api('PATCH', '/domains/other.test', { is_default: false })).toMatchObject(
      invalid(/is_default/),
    )
    expect(await server.api('PATCH', '/domains/other.test', {})).toMatchObject({ status: 200 })
    await connect('waits.example.org')
    expect(await server.api('PATCH', '/domains/waits.example.org', { is_default: true })).toMatchObject(
      conflict(/not verified/),
    )
    await server.api('DELETE', '/domains/waits.example.org')
    await server.api('DELETE', '/domains/other.test')
    expect((await server.api('GET', '/domains')).body[0]).toMatchObject({
      name: 'apps.example.com',
      is_default: true,
    })
    await server.api('DELETE', '/services/shown')
  })

  test('cannot be removed if they are the base domain', async () => {
    expect(await server.api('DELETE', '/domains/apps.example.com')).toMatchObject(conflict(/--base-domain/))
  })

  test('say what a check found when one is requested', async () => {
    const { status, body } = await server.api('POST', '/domains/apps.example.com/verify')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      status: 'pending',
      checked_at: expect.any(String),
      checks: [
        { kind: 'dns', outcome: 'failed', message: expect.stringContaining('do not answer') },
        { kind: 'http', outcome: 'skipped' },
      ],
    })
  })

  test('are reported to the change feed', async () => {
    const ended = new AbortController()
    const response = await fetch(`${server.url}/api/v1/events`, {
      headers: { authorization: `Bearer ${server.token}` },
      signal: ended.signal,
    })
    const changes: string[] = []
    for await (const { event, data } of readEvents(response)) {
      if (event === 'ready') {
        await connect('told.test')
        await server.api('DELETE', '/domains/told.test')
      }
      if (event === 'change') {
        const { kind, action } = JSON.parse(data)
        if (!(kind === 'domain' && action === 'updated')) changes.push(`${kind} ${action}`)
      }
      if (changes.length === 4) break
    }
    ended.abort()
    expect(changes).toEqual(['domain created', 'all resync', 'domain deleted', 'all resync'])
  })
})

describe('no two things have the same host:', () => {
  test('a domain cannot be where an environment is, nor an environment where a domain is', async () => {
    await server.api('POST', '/environments', { name: 'staging' })
    expect(await connect('staging.apps.example.com')).toMatchObject(conflict(/environment staging/))
    await connect('qa.apps.example.com')
    expect(await server.api('POST', '/environments', { name: 'qa' })).toMatchObject(
      conflict(/already connected as a domain/),
    )
    await server.api('DELETE', '/domains/qa.apps.example.com')
    await connect('staging.example.org')
    expect(await connect('example.org')).toMatchObject(conflict(/staging\.example\.org/))
    await server.api('DELETE', '/domains/staging.example.org')
    await server.api('DELETE', '/environments/staging')
  })

  test('a service cannot have a custom domain where it will be by its name', async () => {
    await connect('later.example.net')
    const custom_domains = ['own.later.example.net']
    const own = { deploy: false, image: 'busybox:1', name: 'own', custom_domains }
    const refused = conflict(/will be the host of service own once later\.example\.net is verified/)
    expect(await server.api('POST', '/services', own)).toMatchObject(refused)
    await server.api('POST', '/services', { ...own, name: 'named', custom_domains: [] })
    expect(await server.api('PATCH', '/services/named', { name: 'own', custom_domains })).toMatchObject(
      refused,
    )
    await server.api('DELETE', '/services/named')
    await server.api('DELETE', '/domains/later.example.net')
  })

  test('a service cannot be where the dashboard is', async () => {
    expect((await connect('example.net')).status).toBe(201)
    expect(await server.api('POST', '/services', { name: 'panel' })).toMatchObject(conflict(/dashboard/))
    await server.api('POST', '/services', { name: 'later' })
    expect(await server.api('PATCH', '/services/later', { name: 'panel' })).toMatchObject(
      conflict(/dashboard/),
    )
    await server.api('DELETE', '/domains/example.net')
    expect((await server.api('POST', '/services', { name: 'panel' })).status).toBe(201)
    expect(await connect('example.net')).toMatchObject(conflict(/dashboard/))
  })

  test('a custom domain cannot be a host of another service, of a domain or of the dashboard', async () => {
    await server.api('POST', '/services', { name: 'one', custom_domains: ['www.Shop.example.'] })
    await server.api('POST', '/services', { name: 'two' })
    const add = (domain: string) => server.api('POST', '/services/two/domains', { domain })
    expect(await add('www.shop.example')).toMatchObject(conflict(/in use by service one/))
    expect(await add('panel.example.net')).toMatchObject(conflict(/dashboard/))
    expect(await add('two.apps.example.com')).toMatchObject(conflict(/under the domain apps\.example\.com/))
    expect(await add('any.staging.apps.example.com')).toMatchObject(conflict(/under the domain/))
    expect(await add('a.b.c.apps.example.com')).toMatchObject({ status: 200 })
    expect(await add('apps.example.com')).toMatchObject({ status: 200 })
    await connect('shop.example')
    expect(await server.api('POST', '/services', { name: 'www' })).toMatchObject(conflict(/service one/))
    await server.api('DELETE', '/domains/shop.example')
    await server.api('POST', '/services', { name: 'www' })
    expect(await connect('shop.example')).toMatchObject(conflict(/custom domain of service one/))
    for (const name of ['one', 'two', 'www']) await server.api('DELETE', `/services/${name}`)
  })

  test('a custom domain under a domain that is not served yet is served, unless a service will be there', async () => {
    await server.api('POST', '/environments', { name: 'staging' })
    await connect('waits.example.org')
    await server.api('POST', '/services', { name: 'api' })
    await server.api('POST', '/services', { name: 'api', environment: 'staging' })
    await server.api('POST', '/services', { name: 'web' })
    const add = (domain: string) => server.api('POST', '/services/web/domains', { domain })
    expect(await add('api.waits.example.org')).toMatchObject(conflict(/will be the host of service api/))
    expect(await add('api.staging.waits.example.org')).toMatchObject(
      conflict(/will be the host of service api\.staging/),
    )
    expect(await add('shop.waits.example.org')).toMatchObject({
      status: 200,
      body: ['shop.waits.example.org'],
    })
    expect(await statusAt('shop.waits.example.org')).toBe(503)
    expect(await statusAt('web.waits.example.org')).toBe(404)
    // A service that would have this host comes later, by whatever way.
    expect(await server.api('POST', '/services', { name: 'shop' })).toMatchObject(conflict(/service web/))
    expect(await server.api('PATCH', '/services/api', { name: 'shop' })).toMatchObject(
      conflict(/service web/),
    )
    for (const name of ['api', 'web', 'api?environment=staging'])
      await server.api('DELETE', `/services/${name}`)
    await server.api('DELETE', '/domains/waits.example.org')
    await server.api('DELETE', '/environments/staging')
  })

  test('a custom domain stays when a domain is connected above it, and others can be added next to it', async () => {
    await server.api('POST', '/services', { name: 'stays', custom_domains: ['mine.later.example.net'] })
    expect(await connect('later.example.net')).toMatchObject({ status: 201 })
    const added = await server.api('POST', '/services/stays/domains', { domain: 'beside.example' })
    expect(added).toMatchObject({ status: 200, body: ['mine.later.example.net', 'beside.example'] })
    await server.api('DELETE', '/services/stays')
    await server.api('DELETE', '/domains/later.example.net')
  })
})

describe('custom domains', () => {
  test('are limited to a hundred per service, however they are added', async () => {
    const custom_domains = Array.from({ length: 100 }, (_, at) => `h${at}.example.org`)
    await server.api('POST', '/services', { name: 'many', custom_domains })
    const add = (domain: string) => server.api('POST', '/services/many/domains', { domain })
    expect(await add('h100.example.org')).toMatchObject(conflict(/100 custom domains/))
    expect((await add('h99.example.org')).body).toEqual(custom_domains)
    await server.api('DELETE', '/services/many')
  })

  test('are added, listed, served and removed', async () => {
    await server.api('POST', '/services', { name: 'site' })
    expect(await server.api('GET', '/services/site/domains')).toMatchObject({ status: 200, body: [] })
    const added = await server.api('POST', '/services/site/domains', { domain: 'Bücher.example.' })
    expect(added).toMatchObject({ status: 200, body: ['xn--bcher-kva.example'] })
    const again = await server.api('POST', '/services/site/domains', { domain: 'xn--bcher-kva.example' })
    expect(again.body).toEqual(['xn--bcher-kva.example'])
    expect(await statusAt('xn--bcher-kva.example')).toBe(503)
    expect((await server.api('GET', '/services/site')).body).toMatchObject({
      custom_domains: ['xn--bcher-kva.example'],
      hosts: ['site.apps.example.com', 'xn--bcher-kva.example'],
    })
    const check = await server.api('POST', '/services/site/domains/xn--bcher-kva.example/verify')
    expect(check).toMatchObject({
      status: 200,
      body: {
        name: 'xn--bcher-kva.example',
        leads_here: false,
        records: [
          { name: 'xn--bcher-kva.example', type: 'A', value: '203.0.113.7', required: true },
          { name: 'xn--bcher-kva.example', type: 'AAAA', value: '2001:db8::7', required: false },
        ],
        checks: [
          { kind: 'dns', outcome: 'failed', message: expect.stringContaining('xn--bcher-kva.example') },
          { kind: 'http', outcome: 'skipped' },
        ],
      },
    })
    // No name is looked up that the service does not have.
    expect(await server.api('POST', '/services/site/domains/other.example/verify')).toMatchObject(
      refused(404, 'not_found'),
    )
    const removed = await server.api(
      'DELETE',
      `/services/site/domains/${encodeURIComponent('Bücher.example')}`,
    )
    expect(removed).toMatchObject({ status: 200, body: [] })
    expect(await statusAt('xn--bcher-kva.example')).toBe(404)
    for (const name of ['xn--bcher-kva.example', '*.example.org', '192.0.2.1', 'a_b'])
      expect([name, await server.api('DELETE', `/services/site/domains/${name}`)]).toMatchObject([
        name,
        refused(404, 'not_found'),
      ])
    await server.api('DELETE', '/services/site')
  })

  test('are settings of web services and static sites, checked as such', async () => {
    expect(await server.api('POST', '/services', { name: 'x', custom_domains: ['192.0.2.1'] })).toMatchObject(
      invalid(/^custom_domains\.0: .*IP/),
    )
    expect(
      await server.api('POST', '/services', { name: 'x', custom_domains: ['a.example', '*.b.example'] }),
    ).toMatchObject(invalid(/^custom_domains\.1: .*wildcard/))
    expect(
      await server.api('POST', '/services', {
        name: 'x',
        type: 'background_worker',
        custom_domains: ['a.example.org'],
      }),
    ).toMatchObject(invalid(/^custom_domains: /))
    await server.api('POST', '/services', { name: 'worker', type: 'background_worker' })
    expect(await server.api('POST', '/services/worker/domains', { domain: 'a.example.org' })).toMatchObject(
      invalid(/^domain: /),
    )
    await server.api('DELETE', '/services/worker')
    const { body } = await server.api('POST', '/services', {
      name: 'x',
      custom_domains: ['a.example.org', 'A.example.org.'],
    })
    expect(body.custom_domains).toEqual(['a.example.org'])
    const taken = { custom_domains: ['b.example.org', 'B.example.org.', 'a.example.org'] }
    const inUse = { status: 409, body: { error: { message: expect.stringMatching(/^custom_domains\.2: /) } } }
    expect(await server.api('POST', '/services', { name: 'y', ...taken })).toMatchObject(inUse)
    await server.api('POST', '/services', { name: 'y' })
    expect(await server.api('PATCH', '/services/y', taken)).toMatchObject(inUse)
    await server.api('DELETE', '/services/y')
    await server.api('DELETE', '/services/x')
  })

  test('redirect to the canonical one, which is one of them', async () => {
    const hosts = ['www.brand.example', 'brand.example']
    await server.api('POST', '/services', { name: 'brand', custom_domains: hosts })
    const patch = (body: object) => server.api('PATCH', '/services/brand', body)
    expect(await patch({ canonical_domain: 'else.example' })).toMatchObject(invalid(/^canonical_domain: /))
    expect(await patch({ canonical_domain: 'WWW.brand.example' })).toMatchObject({
      status: 200,
      body: { canonical_domain: 'www.brand.example' },
    })
    const response = await fetch(`http://127.0.0.1:${server.httpPort}/a?b=c`, { redirect: 'manual' })
    expect(response.status).toBe(404)
    const { request } = await import('node:http')
    const location = await new Promise<unknown>((resolve, reject) => {
      request(
        { host: '127.0.0.1', port: server.httpPort, path: '/a?b=c', headers: { host: 'brand.example' } },
        (answer) => resolve([answer.resume().statusCode, answer.headers.location]),
      )
        .on('error', reject)
        .end()
    })
    expect(location).toEqual([308, `http://www.brand.example:${server.httpPort}/a?b=c`])
    expect(await statusAt('www.brand.example')).toBe(503)
    expect(await statusAt('brand.apps.example.com')).toBe(503)
    await server.api('DELETE', '/services/brand/domains/www.brand.example')
    expect((await server.api('GET', '/services/brand')).body.canonical_domain).toBeNull()
    expect(await statusAt('brand.example')).toBe(503)
    await server.api('DELETE', '/services/brand')
  })
})

test('a new service and a new name of it are known at their hosts at once, also without an engine', async () => {
  const { default_domain: domain } = (await server.api('GET', '/info')).body as { default_domain: string }
  const { body } = await server.api('POST', '/services', { name: 'fresh', deploy: false })
  expect(await statusAt(`fresh.${domain}`)).toBe(503)
  expect((await server.api('PATCH', `/services/${body.id}`, { name: 'refreshed' })).status).toBe(200)
  expect(await statusAt(`refreshed.${domain}`)).toBe(503)
  expect(await statusAt(`fresh.${domain}`)).toBe(404)
})

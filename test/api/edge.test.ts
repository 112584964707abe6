import { hostname } from 'node:os'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { exchange, Wire } from '../support/wire.ts'

let server: TestServer
beforeAll(async () => {
  const flags = ['--allowed-hosts', 'Deploy.Example.com', '--dashboard-host', 'panel.example.com']
  server = await startServer({ flags })
})
afterAll(() => server.stop())

const get = (host: string, target = '/healthz') =>
  exchange(server.url, [`GET ${target} HTTP/1.1`, `Host: ${host}`])

describe('the API port', () => {
  it.each([
    '127.0.0.1',
    '192.0.2.7:7878',
    '[::1]:7878',
    'localhost',
    'LOCALHOST:7878',
    'api.localhost',
    'localhost.',
    hostname(),
    'panel.example.com',
    'deploy.example.com:443',
  ])('answers at %s', async (host) => {
    expect(await get(host)).toMatch(/^HTTP\/1\.1 200 /)
  })

  it.each([
    'attacker.example',
    'deploy.example.com.attacker.example',
    'notlocalhost',
    'localhost.attacker.example',
    '127.0.0.1.attacker.example',
    'example.com',
  ])('reveals nothing at %s', async (host) => {
    for (const target of ['/healthz', '/', '/api/v1/auth/status', '/api/openapi.json']) {
      const answer = await get(host, target)
      expect(answer).toMatch(/^HTTP\/1\.1 421 Misdirected Request\r\n/)
      expect(answer).toContain('"misdirected_request"')
      expect(answer).toContain('--allowed-hosts')
    }
  })

  it.each(['a b', 'user@localhost', 'localhost/x', '[::1', 'localhost:port'])(
    'refuses an invalid host: %s',
    async (host) => {
      expect(await get(host)).toMatch(/^HTTP\/1\.1 400 /)
    },
  )

  it('says in every answer that its type is not to be guessed', async () => {
    const page = await (await fetch(server.url)).text()
    const asset = /\/assets\/[\w.-]+\.js/.exec(page)![0]
    const paths = ['/', asset, '/assets/none.js', '/healthz', '/api/docs', '/api/docs/swagger-ui.css']
    const api = [
      '/api/openapi.json',
      '/api/none',
      '/api/v1/services',
      '/api/v1/auth/status',
      '/hooks/gitprov',
    ]
    for (const path of [...paths, ...api]) {
      const { headers } = await fetch(server.url + path)
      expect([path, headers.get('x-content-type-options')]).toEqual([path, 'nosniff'])
    }
    const refused = [
      await get('attacker.example'),
      await exchange(server.url, ['GET / HTTP/1.1', 'Host: localhost', 'Expect: a miracle']),
      await exchange(server.url, ['GET / HTTP/1.1']),
      await exchange(server.url, ['NONSENSE']),
      await exchange(server.url, ['GET / HTTP/1.1', 'Host: localhost', `X: ${'x'.repeat(100_000)}`]),
    ]
    expect(refused.map((answer) => answer.split(' ')[1])).toEqual(['421', '417', '400', '400', '431'])
    for (const answer of refused) expect(answer.toLowerCase()).toContain('x-content-type-options: nosniff')
  })

  it('names every request in its answer: as the client did, if that is usable', async () => {
    const idOf = async (given?: string) => {
      const headers = given === undefined ? {} : { 'x-request-id': given }
      return (await fetch(`${server.url}/api/v1/services`, { headers })).headers.get('x-request-id')
    }
    expect(await idOf('my-own.1')).toBe('my-own.1')
    const made = [await idOf(), await idOf('a b'), await idOf('x'.repeat(129))]
    for (const id of made) expect(id).toMatch(/^[0-9a-f]{32}$/)
    expect(new Set(made).size).toBe(3)
  })

  it('names in every 401 what it requires, including the hooks', async () => {
    const post = (path: string, body?: unknown) => server.request('POST', path, body)
    const answers = [
      await server.request('GET', '/api/v1/services'),
      await post('/api/v1/services'),
      await server.request('DELETE', '/api/v1/services'),
      await post('/api/v1/auth/login', { email: 'a@example.com', password: 'wrong' }),
      await post('/hooks/deploy/srv-00000000000000000000?key=x'),
      await server.request('GET', '/hooks/deploy/nobody'),
    ]
    for (const { status, headers } of answers)
      expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  })

  it('keeps an idle connection longer than load balancers do', async () => {
    const { headers } = await fetch(`${server.url}/healthz`)
    expect(headers.get('keep-alive')).toBe('timeout=65')
  })
})

describe('the dashboard', () => {
  const asset = async () => /\/assets\/index-[\w.-]+\.js/.exec(await (await fetch(server.url)).text())![0]

  it('sends nothing again to clients that have it, in whatever list its tag is', async () => {
    for (const path of ['/', '/services/x', await asset()]) {
      for (const encoding of ['br', 'gzip', 'identity']) {
        const ask = (fields: Record<string, string>, method = 'GET') =>
          fetch(server.url + path, { method, headers: { 'accept-encoding': encoding, ...fields } })
        const etag = (await ask({})).headers.get('etag')!
        const opaque = etag.replace('W/', '')
        for (const tags of [etag, `"x", ${etag}`, `${etag} , W/"y"`, '*', opaque, `W/${opaque}`])
          for (const method of ['GET', 'HEAD']) {
            const answer = await ask({ 'if-none-match': tags }, method)
            expect([path, tags, answer.status, await answer.text()]).toEqual([path, tags, 304, ''])
            expect(answer.headers.get('etag')).toBe(etag)
            expect(answer.headers.get('vary')).toBe('accept-encoding')
          }
        // A date does not count next to a different tag (RFC 9110 section 13.1.3).
        const later = { 'if-modified-since': 'Fri, 31 Dec 2100 23:59:59 GMT' }
        for (const fields of [{ 'if-none-match': '"x"' }, { 'if-none-match': 'x' }])
          expect((await ask({ ...fields, ...later })).status).toBe(200)
      }
    }
  })

  it('says which methods its pages and files support', async () => {
    for (const path of ['/', '/services', '/no/such/page', await asset()])
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const answer = await server.request(method, path)
        expect([path, method, answer.status]).toEqual([path, method, 405])
        expect(answer.body.error.code).toBe('method_not_allowed')
        expect(answer.headers.get('allow')).toBe('GET, HEAD')
      }
    for (const path of ['/assets/none.js', `${await asset()}.br`, '/assets/', '/api/none', '/hooks/none'])
      for (const method of ['GET', 'POST']) expect((await server.request(method, path)).status).toBe(404)
  })

  it('sends a file in the coding that its client prefers', async () => {
    const path = await asset()
    const codingOf = async (accepted: string) =>
      (await fetch(server.url + path, { headers: { 'accept-encoding': accepted } })).headers.get(
        'content-encoding',
      )
    expect(await codingOf('gzip, br')).toBe('br')
    expect(await codingOf('gzip;q=1.0, br;q=0.1')).toBe('gzip')
    expect(await codingOf('br;q=0, gzip;q=0')).toBe(null)
  })
})

describe('a target with scheme and host', () => {
  it('is accepted, and its host is the one that counts', async () => {
    const ask = (target: string, host: string) =>
      exchange(server.url, [`GET ${target} HTTP/1.1`, `Host: ${host}`])
    expect(await ask('http://localhost:7878/healthz', 'attacker.example')).toMatch(/^HTTP\/1\.1 200 [^]*ok$/)
    expect(await ask('HTTPS://panel.example.com', 'localhost')).toMatch(
      /^HTTP\/1\.1 200 [^]*<!doctype html>/i,
    )
    expect(await ask('http://localhost?x', 'localhost')).toMatch(/^HTTP\/1\.1 200 /)
    expect(await ask('http://attacker.example/healthz', 'localhost')).toMatch(/^HTTP\/1\.1 421 /)
    expect(await ask('http://user@localhost/healthz', 'localhost')).toMatch(/^HTTP\/1\.1 400 /)
  })

  it('can have a query like any other', async () => {
    const target = `http://localhost/api/v1/info?access_token=${server.token}`
    expect(await exchange(server.url, [`GET ${target} HTTP/1.1`, 'Host: localhost'])).toMatch(
      /^HTTP\/1\.1 200 /,
    )
  })
})

describe('a client that asks before it sends', () => {
  const ask = (path: string, lines: string[]) => [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    'Expect: 100-continue',
    ...lines,
  ]
  const bearer = () => `Authorization: Bearer ${server.token}`

  it('is told to continue if only the body is missing', async () => {
    using wire = await Wire.open(server.url)
    const body = '{"name":"asked"}'
    wire.send(ask('/api/v1/services', [bearer(), `Content-Length: ${body.length}`, 'Connection: close']))
    await waitFor(() => wire.received !== '', 'the invitation')
    expect(wire.received).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    wire.socket.write(body)
    expect(await wire.end()).toMatch(/100 Continue\r\n\r\nHTTP\/1\.1 201 /)
  })

  it.each([
    ['credentials', '/api/v1/services', 10, '', '401'],
    ['a length over the limit', '/api/v1/services', 3 * 1024 * 1024, 'token', '413'],
    ['an upload over its limit', '/api/v1/services/asked/deploys/upload', 600 * 1024 * 1024, 'token', '413'],
    ['the query', '/api/v1/services?nothing=1', 10, 'token', '400'],
    ['the service of an upload', '/api/v1/services/nobody/deploys/upload', 10, 'token', '404'],
    ['the webhook, which is off', '/hooks/gitprov', 10, '', '404'],
  ])('is refused at once for %s', async (_, path, length, credentials, status) => {
    using wire = await Wire.open(server.url)
    wire.send(ask(path, [...(credentials ? [bearer()] : []), `Content-Length: ${length}`]))
    await waitFor(() => wire.received.includes('}}'), 'the refusal')
    expect(wire.received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  })
})

describe('a name that every object has', () => {
  it.each(['__proto__', 'constructor', '__prot%6f__'])('is not a field of a query: %s', async (name) => {
    for (const query of [`${name}=1`, `limit=1&${name}`]) {
      const { status, body } = await server.api('GET', `/services/nobody/deploys?${query}`)
      expect([status, body.error.code]).toEqual([400, 'invalid_request'])
      expect(body.error.message).toContain('unknown field')
    }
  })
})

describe('a query parameter without a name', () => {
  it.each(['=force', 'limit=1&=1', '=', 'a=why?&=force'])('is refused: %s', async (query) => {
    const { status, body } = await server.api('DELETE', `/services/nobody?${query}`)
    expect([status, body.error.message]).toEqual([400, '"": unknown field'])
  })
})

describe('a query parameter that is given more than once', () => {
  it.each(['limit=1&limit=2', 'limit=1&limit=1', 'limit&limit', 'l%69mit=1&limit=2'])(
    'is refused by its name: %s',
    async (query) => {
      const { status, body } = await server.api('GET', `/services/nobody/deploys?${query}`)
      expect([status, body.error.code]).toEqual([400, 'invalid_request'])
      expect(body.error.message).toBe('limit: given more than once')
    },
  )
})

describe('a name for people', () => {
  it.each(['\ud800', 'a\udc00b', 'a\u202eb', 'a\u0007'])('is text that can be shown: %j', async (name) => {
    const url = 'http://127.0.0.1:1/'
    for (const [path, kind] of [
      ['/notifications', 'webhook'],
      ['/log-drains', 'http'],
    ] as const) {
      const { status, body } = await server.api('POST', path, { name, kind, url })
      expect([status, body.error?.message]).toEqual([400, expect.stringMatching(/^name: /)])
    }
  })
})

describe('a number in the query', () => {
  it('that is too large for an integer counts as the largest', async () => {
    await server.api('POST', '/services', { name: 'listed' })
    const huge = '9'.repeat(400)
    for (const limit of [huge, `-${huge}`, '1000000000000000000'])
      expect((await server.api('GET', `/services/listed/deploys?limit=${limit}`)).status).toBe(200)
    expect((await server.api('GET', `/services/listed/deploys?limit=1e3`)).status).toBe(400)
    expect((await server.api('GET', `/server/logs?tail=${huge}`)).status).toBe(200)
  })
})

describe('a connection', () => {
  const ask = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`

  it('answers requests that were sent ahead in their order, and ends after too many of them', async () => {
    using patient = await Wire.open(server.url)
    patient.socket.write(ask('/') + ask('/healthz') + ask('/api/none'))
    await waitFor(() => patient.received.includes('there is nothing at /api/none'), 'the last answer')
    expect([...patient.received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status)).toEqual([
      '200',
      '200',
      '404',
    ])
    using hasty = await Wire.open(server.url)
    hasty.socket.write(ask('/api/openapi.json').repeat(500))
    await hasty.end()
    expect((await server.request('GET', '/healthz')).body).toBe('ok')
  })

  it.each([
    'no request\r\n\r\n',
    'POST /api/v1/services HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nno size',
  ])('answers earlier requests first when %j follows', async (bytes) => {
    using wire = await Wire.open(server.url)
    wire.socket.write(ask('/api/none') + ask('/api/other') + bytes)
    const [none, other, refused, ...more] = (await wire.end()).split(/(?=HTTP\/1\.1 )/)
    expect(none).toContain('there is nothing at /api/none')
    expect(other).toContain('there is nothing at /api/other')
    expect(refused).toMatch(/^HTTP\/1\.1 400 [^]*\r\nConnection: close\r\n/)
    expect(more).toEqual([])
  })
})

describe('connections', () => {
  it('over 4,096 close the one that was idle longest, and the new one is served', async () => {
    const busy = await Wire.open(server.url)
    busy.send(['GET /api/v1/events HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${server.token}`])
    await waitFor(() => busy.received.includes('event: ready'), 'the stream')
    const first = await Wire.open(server.url)
    const crowd: Wire[] = []
    while (crowd.length < 4_096)
      crowd.push(...(await Promise.all(Array.from({ length: 64 }, () => Wire.open(server.url)))))
    expect((await server.request('GET', '/healthz')).body).toBe('ok')
    await waitFor(() => first.closed, 'the end of the first')
    expect(busy.closed).toBe(false)
    expect(crowd.at(-1)!.closed).toBe(false)
    expect(crowd.filter(({ closed }) => closed).length).toBeLessThan(64)
    for (const wire of [busy, first, ...crowd]) wire.socket.destroy()
  })
})

import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { openPass } from '#daemon/sources/gate.ts'
import { LfsClient } from '#daemon/sources/lfs-client.ts'

const ANYWHERE = { denyPrivate: false, ownPort: null }
const OBJECT = { oid: 'a'.repeat(64), size: 7, paths: ['a.bin'] }

afterEach(() => vi.unstubAllEnvs())

async function serve(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return { server, place: `127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** A server with one object, for which the fields of `header` are to be sent; records the heads of requests for it. */
async function startStore(
  header: Record<string, string>,
  onObject: (response: ServerResponse) => unknown = (response) => response.end('content'),
) {
  const asked: IncomingMessage['headers'][] = []
  const { place } = await serve((request, response) => {
    if (request.method !== 'POST') {
      asked.push(request.headers)
      return void onObject(response)
    }
    const download = { href: '/object', header }
    response.end(JSON.stringify({ objects: [{ oid: OBJECT.oid, actions: { download } }] }))
  })
  return { asked, place }
}

async function read(place: string): Promise<string> {
  const endpoint = { url: `http://${place}`, header: { authorization: 'Basic own' } }
  const client = new LfsClient(endpoint, ANYWHERE, AbortSignal.timeout(10_000))
  onTestFinished(() => client.close())
  return String(await buffer(client.read([OBJECT])))
}

test('what the server gives for an object replaces the credentials of the repository, however it is written', async () => {
  const { asked, place } = await startStore({ Authorization: 'Basic object' })
  expect(await read(place)).toBe('content')
  expect(asked).toMatchObject([{ authorization: 'Basic object' }])
})

test('the server decides nothing about how the request for an object is sent', async () => {
  const { asked, place } = await startStore({
    Host: 'admin.internal',
    Expect: 'x',
    'Transfer-Encoding': 'chunked',
  })
  expect(await read(place)).toBe('content')
  expect(asked).toMatchObject([{ host: place, authorization: 'Basic own' }])
  expect(asked[0]).not.toHaveProperty('expect')
})

test('a redirect to a forbidden address is refused, whatever its form', async () => {
  const { place } = await startStore({}, (response) =>
    response.writeHead(302, { location: 'http://[::ffff:a9fe:a9fe]/' }).end(),
  )
  await expect(read(place)).rejects.toThrow(/may not be reached: ::ffff:a9fe:a9fe is a link-local/)
})

test('no field for an object is sent to where another server redirects', async () => {
  const other = await startStore({})
  const header = { 'X-Key': 'secret' }
  const { asked, place } = await startStore(header, (response) =>
    response.writeHead(307, { location: `http://${other.place}/object` }).end(),
  )
  expect(await read(place)).toBe('content')
  expect(asked).toMatchObject([{ 'x-key': 'secret', authorization: 'Basic own' }])
  expect(other.asked).toHaveLength(1)
  expect(other.asked[0]).not.toHaveProperty('x-key')
  expect(other.asked[0]).not.toHaveProperty('authorization')
})

test('an outbound HTTP proxy is asked for everything, with its credentials', async () => {
  const { place } = await startStore({})
  const asked: unknown[] = []
  const proxy = await serve((request, response) => {
    asked.push(request.headers['proxy-authorization'])
    const { host, port, pathname } = new URL(request.url!)
    expect(host).toBe(place)
    const onward = connect(Number(port), '127.0.0.1')
    onward.write(`${request.method} ${pathname} HTTP/1.0\r\nContent-Length: 0\r\n\r\n`)
    onward.pipe(response.socket!)
  })
  vi.stubEnv('http_proxy', `http://us%65r:p%40ss@${proxy.place}`)
  expect(await read(place)).toBe('content')
  const signIn = `Basic ${Buffer.from('user:p@ss').toString('base64')}`
  expect(asked).toEqual([signIn, signIn])
})

test('a host behind an outbound HTTP proxy is reached over TLS through a tunnel', async () => {
  const asked: string[] = []
  const { server, place } = await serve(() => {})
  server.on('connect', (request, socket) => {
    asked.push(request.url!)
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
  })
  vi.stubEnv('https_proxy', `http://${place}`)
  const client = new LfsClient(
    { url: 'https://host.invalid/a', header: {} },
    ANYWHERE,
    AbortSignal.timeout(10_000),
  )
  await expect(client.read([OBJECT]).next()).rejects.toThrow(/cannot be reached \(.*\b403\b.*\): try again/)
  expect(asked).toEqual(['host.invalid:443'])
})

test('an outbound SOCKS proxy is asked for everything, with its credentials', async () => {
  const { place } = await startStore({})
  // The gate speaks it too.
  const pass = await openPass(ANYWHERE)
  onTestFinished(() => pass.close())
  const proxy = pass.environment.http_proxy!
  vi.stubEnv('all_proxy', proxy)
  await expect(read(place)).rejects.toThrow(
    /cannot be reached \(SOCKS5 connection failed: Connection not allowed by ruleset\)/,
  )
  pass.allow('127.0.0.1')
  expect(await read(place)).toBe('content')
  vi.stubEnv('all_proxy', proxy.replace(/:\w+@/, ':wrong@'))
  await expect(read(place)).rejects.toThrow(/Authentication failed/)
})

test('a name that is too long for a SOCKS proxy does not become another one', async () => {
  const pass = await openPass(ANYWHERE)
  onTestFinished(() => pass.close())
  pass.allow('127.0.0.1')
  vi.stubEnv('all_proxy', pass.environment.http_proxy)
  await expect(read(`127.0.0.1${'.x'.repeat(128)}`)).rejects.toThrow(/too long/)
})

test('behind an outbound proxy, a forbidden address is refused before the proxy is asked', async () => {
  const asked: unknown[] = []
  const { place } = await serve((request) => void asked.push(request.url))
  vi.stubEnv('http_proxy', `http://${place}`)
  await expect(read('169.254.169.254')).rejects.toThrow(
    /may not be reached: 169\.254\.169\.254 is a link-local/,
  )
  expect(asked).toEqual([])
})

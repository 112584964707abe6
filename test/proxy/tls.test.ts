import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectPlain } from 'node:net'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import type { TLSSocket } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { waitFor as waitUntil } from '../support/wait.ts'
import { closing, start as startStand } from './lifetimes.ts'
import { certificate, secureConnection, secureTable, shownName } from './secure.ts'
import { HOST, HttpUpstream, type ProxyStand, RawUpstream, tableOf, waitFor } from './stand.ts'

async function start(table: Parameters<typeof ProxyStand.start>[0], workers = 1): Promise<ProxyStand> {
  return startStand(table, { workers })
}

async function echo(): Promise<HttpUpstream> {
  return closing(
    await HttpUpstream.start('echo', (incoming, response) => {
      response.setHeader('seen', JSON.stringify(incoming.headers))
      incoming.pipe(response)
    }),
  )
}

function securePort(stand: ProxyStand): number {
  return stand.client.bound.find(({ host }) => host === '127.0.0.2')!.port
}

async function dial(port: number, options: Parameters<typeof secureConnection>[1] = {}): Promise<TLSSocket> {
  const socket = await secureConnection(port, options)
  onTestFinished(() => void socket.destroy())
  return socket
}

/** Sends a request of these lines and returns what came until it contains `part`. */
async function ask(socket: TLSSocket, lines: string[], part: string): Promise<string> {
  let received = ''
  const collect = (data: Buffer) => void (received += data.toString('latin1'))
  socket.on('data', collect)
  socket.write([...lines, '', ''].join('\r\n'))
  await waitFor(
    () => received.includes(part),
    () => `waiting for ${part}, received ${received.slice(0, 500)}`,
  )
  socket.off('data', collect)
  return received
}

test('each host shows its certificate: the exact one, else that of its wildcard', async () => {
  const upstream = await echo()
  const certificates = { [HOST]: certificate('app'), '*.wild.test': certificate('wildcard') }
  const port = securePort(await start(secureTable([upstream.spec], { certificates })))
  expect(shownName(await dial(port))).toBe('app')
  expect(shownName(await dial(port, { servername: 'APP.test' }))).toBe('app')
  expect(shownName(await dial(port, { servername: 'a.wild.test' }))).toBe('wildcard')
  expect(shownName(await dial(port, { servername: 'a.b.wild.test' }))).toBe('wildcard')
})

test('a handshake fails for a host without a certificate, and for none named', async () => {
  const upstream = await echo()
  const port = securePort(await start(secureTable([upstream.spec])))
  await expect(secureConnection(port, { servername: 'other.test' })).rejects.toThrow(/handshake failure/)
  await expect(secureConnection(port, { servername: '' })).rejects.toThrow(/handshake failure/)
  expect(shownName(await dial(port))).toBe('app')
})

test('a certificate that cannot be read fails only its host and says so in the log', async () => {
  const upstream = await echo()
  const missing = { certificate: '/nowhere/chain.pem', key: '/nowhere/key.pem' }
  const certificates = { [HOST]: certificate('app'), 'broken.test': missing }
  const stand = await start(secureTable([upstream.spec], { certificates }))
  const port = securePort(stand)
  await expect(secureConnection(port, { servername: 'broken.test' })).rejects.toThrow(/handshake failure/)
  expect(shownName(await dial(port))).toBe('app')
  expect(stand.log).toContain('/nowhere/chain.pem')
})

test('a renewed certificate is used for new connections while the old ones continue', async () => {
  const upstream = await echo()
  const stand = await start(secureTable([upstream.spec]))
  const port = securePort(stand)
  const before = await dial(port)
  await ask(before, ['GET /1 HTTP/1.1', `Host: ${HOST}`], '200 OK')
  await stand.client.applyTable(
    secureTable([upstream.spec], { version: 2, certificates: { [HOST]: certificate('renewed') } }),
  )
  expect(shownName(await dial(port))).toBe('renewed')
  await ask(before, ['GET /2 HTTP/1.1', `Host: ${HOST}`], '200 OK')
})

test('TLS 1.2 and 1.3 are spoken, older versions are not', async () => {
  const upstream = await echo()
  const port = securePort(await start(secureTable([upstream.spec])))
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const socket = await dial(port, { minVersion: version, maxVersion: version })
    expect(socket.getProtocol()).toBe(version)
    await ask(socket, ['GET / HTTP/1.1', `Host: ${HOST}`], '200 OK')
  }
  await expect(
    secureConnection(port, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }),
  ).rejects.toThrow()
})

test('a TLS 1.2 client gets no second handshake on its connection', async () => {
  const upstream = await echo()
  const port = securePort(await start(secureTable([upstream.spec])))
  const socket = await dial(port, { maxVersion: 'TLSv1.2' })
  const refused = new Promise<Error | null>((resolve) => socket.renegotiate({}, resolve))
  const failed = once(socket, 'error').then(([error]) => error as Error)
  expect((await Promise.race([refused, failed]))?.message).toMatch(/no.renegotiation/)
})

test("AES with 128 bits is chosen from a client's offer, or ChaCha20 if the client puts that first", async () => {
  const upstream = await echo()
  const port = securePort(await start(secureTable([upstream.spec])))
  const chosen = async (ciphers: string) => (await dial(port, { ciphers })).getCipher().standardName
  const [aes256, chacha, aes128] = [
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'TLS_AES_128_GCM_SHA256',
  ]
  expect(await chosen(`${aes256}:${chacha}:${aes128}`)).toBe(aes128)
  expect(await chosen(`${chacha}:${aes256}:${aes128}`)).toBe(chacha)
  expect(await chosen(`${aes256}:${chacha}`)).toBe(aes256)
})

test('TLS 1.2 is only spoken with forward secrecy and authenticated encryption', async () => {
  const upstream = await echo()
  const port = securePort(await start(secureTable([upstream.spec])))
  const old = { maxVersion: 'TLSv1.2' as const }
  const socket = await dial(port, old)
  expect(socket.getCipher().standardName).toBe('TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256')
  for (const ciphers of ['ECDHE-ECDSA-AES128-SHA256', 'ECDHE-ECDSA-AES256-SHA'])
    await expect(secureConnection(port, { ...old, ciphers })).rejects.toThrow(/handshake failure/)
})

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'a %s session resumes at whichever worker takes the next connection',
  async (version) => {
    const upstream = await echo()
    const port = securePort(await start(secureTable([upstream.spec]), 2))
    const versions = { minVersion: version, maxVersion: version }
    let session: Buffer | undefined
    const first = await dial(port, versions)
    first.on('session', (given: Buffer) => (session = given))
    await ask(first, ['GET / HTTP/1.1', `Host: ${HOST}`], '200 OK')
    // In TLS 1.2 the ticket is part of the handshake, which is over.
    if (version === 'TLSv1.2') session = first.getSession()
    await waitFor(
      () => session !== undefined,
      () => 'waiting for a session',
    )
    for (let time = 0; time < 6; time++) {
      const socket = await dial(port, { ...versions, session })
      await ask(socket, ['GET / HTTP/1.1', `Host: ${HOST}`], '200 OK')
      expect(socket.isSessionReused()).toBe(true)
    }
  },
)

test('bodies of some megabytes pass both ways, and the upstream learns that TLS was spoken', async () => {
  const upstream = await echo()
  const port = securePort(await start(secureTable([upstream.spec])))
  const sent = 'x'.repeat(5_000_000)
  const call = request({
    host: '127.0.0.2',
    port,
    method: 'POST',
    servername: HOST,
    headers: { host: HOST },
    rejectUnauthorized: false,
    agent: false,
  })
  call.end(sent)
  const [response] = (await once(call, 'response')) as [import('node:http').IncomingMessage]
  expect(JSON.parse(String(response.headers.seen))).toMatchObject({
    'x-forwarded-proto': 'https',
    'x-forwarded-port': String(port),
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-host': HOST,
  })
  expect(await text(response)).toBe(sent)
})

test('an upstream that dies in the middle of its answer ends only that connection, and it is known to be cut', async () => {
  for (const answer of ['Content-Length: 100\r\n\r\nhalf', 'Transfer-Encoding: chunked\r\n\r\nff\r\nhalf']) {
    const upstream = closing(
      await RawUpstream.start((socket) => {
        socket.write(`HTTP/1.1 200 OK\r\n${answer}`)
        setTimeout(() => socket.destroy(), 50)
      }),
    )
    const stand = await start(secureTable([upstream.spec]))
    const { workers } = await stand.processes()
    const socket = await dial(securePort(stand))
    const closed = once(socket, 'close')
    socket.write(`GET / HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`)
    socket.resume()
    await closed
    await expect.poll(async () => (await stand.client.counts()).open_connections).toBe(0)
    expect((await stand.processes()).workers).toEqual(workers)
  }
})

test('an upgraded connection is a pipe for bytes over TLS too', async () => {
  const upstream = closing(
    await RawUpstream.start((socket, piece) => {
      if (piece.includes('Upgrade'))
        socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n')
      else socket.write(piece.toUpperCase())
      return true
    }),
  )
  const port = securePort(await start(secureTable([upstream.spec])))
  const socket = await dial(port)
  await ask(
    socket,
    ['GET /ws HTTP/1.1', `Host: ${HOST}`, 'Connection: upgrade', 'Upgrade: websocket'],
    '101 Switching',
  )
  expect(await ask(socket, ['hello'], 'HELLO')).toContain('HELLO')
})

test('a request without TLS to a host with a certificate is redirected to the same address with TLS', async () => {
  const upstream = await echo()
  const stand = await start(secureTable([upstream.spec]))
  const answer = await stand
    .raw()
    .request('POST /a/b?c=%20d HTTP/1.1', 'Host: APP.test:80', 'Content-Length: 0', 'Connection: close')
    .end()
  expect(answer).toMatch(/^HTTP\/1\.1 308 Permanent Redirect\r\n/)
  expect(answer).toContain(`\r\nLocation: https://app.test:${securePort(stand)}/a/b?c=%20d\r\n`)
  const head = await stand.raw().request('HEAD / HTTP/1.1', `Host: ${HOST}`, 'Connection: close').end()
  expect(head).toMatch(/^HTTP\/1\.1 308 [^]*\r\n\r\n$/)
})

test('a host without a certificate is served without TLS', async () => {
  const upstream = await echo()
  const stand = await start(secureTable([upstream.spec], { certificates: {} }))
  const answer = await stand.raw().request('GET / HTTP/1.1', `Host: ${HOST}`, 'Connection: close').end()
  expect(answer).toContain('HTTP/1.1 200 OK')
})

test('a request from a trusted proxy that terminates TLS is not redirected to TLS again', async () => {
  const upstream = await echo()
  const stand = await start(secureTable([upstream.spec], { trusted_proxies: ['127.0.0.1/32'] }))
  const head = ['GET / HTTP/1.1', `Host: ${HOST}`, 'Connection: close']
  expect(
    await stand
      .raw()
      .request(...head, 'X-Forwarded-Proto: https')
      .end(),
  ).toContain('HTTP/1.1 200 OK')
  expect(
    await stand
      .raw()
      .request(...head, 'X-Forwarded-Proto: http')
      .end(),
  ).toContain('HTTP/1.1 308')
})

test('the challenge of a certificate authority is answered without TLS at any host, and none is redirected to TLS', async () => {
  const upstream = await echo()
  const stand = await start(
    secureTable([upstream.spec], { acme_challenges: { 'tok-en_1': 'tok-en_1.thumb' } }),
  )
  const ask = (path: string, host: string) =>
    stand.raw().request(`GET ${path} HTTP/1.1`, `Host: ${host}`, 'Connection: close').end()
  for (const host of [HOST, 'not-yet.test']) {
    const answer = await ask('/.well-known/acme-challenge/tok-en_1', host)
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK[^]*\r\n\r\ntok-en_1\.thumb$/)
  }
  // The service may have an authority of its own.
  expect(await ask('/.well-known/acme-challenge/other', HOST)).toContain('HTTP/1.1 200')
  expect(await ask('/.well-known/acme-challenge/other', 'not-yet.test')).toContain('HTTP/1.1 404')
})

test('a nonce is answered at any host with a proof that the key was known', async () => {
  const upstream = await echo()
  const stand = await start(secureTable([upstream.spec], { verification_key: 'the key' }))
  const ask = (path: string, host: string) =>
    stand.raw().request(`GET ${path} HTTP/1.1`, `Host: ${host}`, 'Connection: close').end()
  const proof = createHmac('sha256', 'the key').update('0a1b').digest('hex')
  for (const host of [HOST, 'not-yet.test'])
    expect(await ask('/.well-known/deployer/0a1b', host)).toMatch(
      new RegExp(`^HTTP/1.1 200 [^]*\r\n\r\n${proof}$`),
    )
  expect(await ask('/.well-known/deployer/not-hex', 'not-yet.test')).toContain('HTTP/1.1 404')
  const secure = await dial(securePort(stand))
  secure.write(`GET /.well-known/deployer/0a1b HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`)
  expect(await text(secure)).toContain(proof)
  const keyless = await start(secureTable([upstream.spec]))
  const answer = await keyless
    .raw()
    .request('GET /.well-known/deployer/0a1b HTTP/1.1', 'Host: x.test', 'Connection: close')
    .end()
  expect(answer).toContain('HTTP/1.1 404')
})

test('a proof does not count as a request of the service at whose host it was requested', async () => {
  const upstream = await echo()
  const stand = await start(secureTable([upstream.spec], { verification_key: 'the key' }))
  for (const path of ['/.well-known/deployer/0a1b', '/its-own'])
    await stand.raw().request(`GET ${path} HTTP/1.1`, `Host: ${HOST}`, 'Connection: close').end()
  await waitUntil(async () => {
    const { unrouted, ...services } = (await stand.client.counts()).targets
    // Redirected to TLS.
    return Object.values(services)[0]?.status_3xx === 1 && unrouted?.status_2xx === 1
  }, 'the counts of one request each')
})

test('a host may redirect to another, with and without TLS, and its requests count for the service', async () => {
  const upstream = await echo()
  const table = secureTable([upstream.spec])
  table.targets.away = { id: 'service', state: 'serving', upstreams: [], redirect: 'https://www.test:8443' }
  table.hosts['alias.test'] = 'away'
  const stand = await start(table)
  const head = ['GET /a?b=c HTTP/1.1', 'Host: alias.test', 'Connection: close']
  const plain = await stand
    .raw()
    .request(...head)
    .end()
  expect(plain).toMatch(/^HTTP\/1\.1 308 [^]*\r\nLocation: https:\/\/www\.test:8443\/a\?b=c\r\n/)
  const secure = await ask(await dial(securePort(stand)), head, '\r\n\r\n')
  expect(secure).toContain('Location: https://www.test:8443/a?b=c\r\n')
  const unknown = '/.well-known/acme-challenge/of-another-server'
  const proof = await stand
    .raw()
    .request(`GET ${unknown} HTTP/1.1`, 'Host: alias.test', 'Connection: close')
    .end()
  expect(proof).toContain(`Location: https://www.test:8443${unknown}\r\n`)
  await waitUntil(
    async () => (await stand.client.counts()).targets.service?.status_3xx === 3,
    'the counts of the redirects',
  )
})

test.each([
  [301, true, 'https://www.test/new', 'https://www.test/new/a?b=c'],
  [302, false, 'https://www.test/new/?x=y', 'https://www.test/new/?x=y'],
  [303, false, 'https://www.test', 'https://www.test'],
  [307, true, 'http://www.test', 'http://www.test/a?b=c'],
] as const)(
  'a redirect may have the status %i and keep the path or not (%s)',
  async (status, keeps, to, location) => {
    const table = tableOf([], {
      targets: {
        app: {
          ...{ id: 'rdr-1', state: 'serving', upstreams: [], redirect: to },
          ...{ redirect_status: status, redirect_keeps_path: keeps },
        },
      },
    })
    const stand = await start(table)
    const received = await stand
      .raw()
      .request('GET /a?b=c HTTP/1.1', `Host: ${HOST}`, 'Connection: close')
      .end()
    expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(received).toContain(`\r\nLocation: ${location}\r\n`)
  },
)

test('browsers are told to use only TLS if configured, unless the service tells them itself', async () => {
  const upstream = closing(
    await HttpUpstream.start('own', (incoming, response) => {
      if (incoming.url === '/own') response.setHeader('Strict-Transport-Security', 'max-age=5')
      response.end('ok')
    }),
  )
  const stand = await start(secureTable([upstream.spec], { hsts_seconds: 3600 }))
  const lines = async (path: string, host = HOST) => {
    const answer = await ask(
      await dial(securePort(stand)),
      [`GET ${path} HTTP/1.1`, `Host: ${host}`],
      '\r\n\r\n',
    )
    return answer.match(/^strict-transport-security: .*$/gim)
  }
  expect(await lines('/')).toEqual(['Strict-Transport-Security: max-age=3600'])
  expect(await lines('/own')).toEqual(['Strict-Transport-Security: max-age=5'])
  expect(await lines('/', 'nobody.test')).toEqual(['Strict-Transport-Security: max-age=3600'])
  const plain = await stand.raw().request('GET / HTTP/1.1', `Host: ${HOST}`, 'Connection: close').end()
  expect(plain).not.toMatch(/strict-transport-security/i)
})

test('plain HTTP at the port of TLS, or leaving during the handshake, disturbs nobody', async () => {
  const upstream = await echo()
  const port = securePort(await start(secureTable([upstream.spec])))
  for (const said of [
    'GET / HTTP/1.1\r\nHost: app.test\r\n\r\n',
    '',
    '\x16\x03\x01',
    '\x16\x03\x01\xff\xff'.repeat(5_000),
  ]) {
    const stranger = connectPlain({ host: '127.0.0.2', port })
    stranger.on('error', () => {}).resume()
    stranger.end(Buffer.from(said, 'latin1'))
    await once(stranger, 'close')
  }
  await ask(await dial(port), ['GET / HTTP/1.1', `Host: ${HOST}`], '200 OK')
})

test('a closed connection is no longer counted, whether its handshake was done or not', async () => {
  const upstream = await echo()
  const stand = await start(secureTable([upstream.spec]))
  const port = securePort(stand)
  const open = () => stand.client.counts().then(({ open_connections }) => open_connections)
  const socket = await dial(port)
  const silent = connectPlain({ host: '127.0.0.2', port })
  await once(silent, 'connect')
  await expect.poll(open).toBe(2)
  socket.destroy()
  silent.destroy()
  await expect.poll(open).toBe(0)
})

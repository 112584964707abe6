import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { createServer as createTlsServer } from 'node:tls'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket, type ClientOptions } from 'ws'
import { builtServer } from '../support/build.ts'
import { databaseOf } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { Browser } from './account-client.ts'

const PROTOCOL = 'deployer.tcp.v1'
const MIB = 1024 * 1024

let server: TestServer
let browser: Browser
/** What listens at the port of the datastore `db`: the bytes are the test's own. */
let datastore: Server
/** The connections that it has got, in order. */
const taken: Socket[] = []
const opened: WebSocket[] = []

beforeAll(async () => {
  server = await startServer({
    flags: ['--dashboard-host', 'panel.localhost', '--allowed-hosts', 'app.test'],
    // The server's own connections to the datastore would be taken for tunnels.
    // A client that computes for a moment must not be taken for one that is gone.
    schedule: { tunnelProbeEveryMs: 3_000, datastoreProbeEveryMs: 3_600_000 },
  })
  browser = await new Browser(server.url).setUp(server.setupCode)
  datastore = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => {})
    taken.push(socket)
  }).listen(0, '127.0.0.1')
  await once(datastore, 'listening')
})

// The server asks it, too, gets no answer, and takes it for unavailable after a while.
beforeEach(() => available('db', portOf(datastore)))

afterAll(async () => {
  for (const socket of opened) socket.terminate()
  for (const socket of taken) socket.destroy()
  datastore?.close()
  await server?.stop()
})

function portOf(listening: Server): number {
  return (listening.address() as AddressInfo).port
}

/** Has a datastore count as available at a port of the test's own, since there is no engine. */
async function available(name: string, port: number): Promise<void> {
  await server.api('POST', '/datastores', { kind: 'keyvalue', name })
  change("UPDATE datastores SET status = 'available', host_port = ? WHERE name = ?", port, name)
}

function change(sql: string, ...values: (string | number)[]): void {
  const database = databaseOf(server.dataDirectory)
  database.prepare(sql).run(...values)
  database.close()
}

interface Asked extends ClientOptions {
  /** Where the API is asked. */
  at?: string
  name?: string
  token?: string | null
  query?: string
  protocols?: string[]
}

function ask(asked: Asked = {}) {
  const {
    at = server.url,
    name = 'db',
    token = server.token,
    query = '',
    protocols = [PROTOCOL],
    ...rest
  } = asked
  const url = `${at.replace('http', 'ws')}/api/v1/datastores/${name}/tunnel${query}`
  const headers = { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...rest.headers }
  const socket = new WebSocket(url, protocols, { ...rest, headers })
  socket.on('error', () => {})
  opened.push(socket)
  return socket
}

interface Opened {
  client: WebSocket
  /** The other end of the tunnel. */
  store: Socket
}

async function open(asked: Asked = {}): Promise<Opened> {
  const before = taken.length
  const client = ask(asked)
  await new Promise((resolve, reject) => {
    client.once('open', resolve)
    client.once('unexpected-response', (_, { statusCode }) => reject(new Error(`it answered ${statusCode}`)))
  })
  return { client, store: await waitFor(() => taken[before], 'the connection') }
}

/** How a request for a tunnel is refused. */
async function refusal(asked: Asked): Promise<[status: number, code: string]> {
  const client = ask(asked)
  const [, response] = await new Promise<[unknown, import('node:http').IncomingMessage]>(
    (resolve, reject) => {
      client.once('unexpected-response', (...given) => resolve(given))
      client.once('open', () => reject(new Error('it was opened')))
    },
  )
  const { error } = JSON.parse(await text(response)) as { error: { code: string; message: string } }
  expect(error.message).not.toBe('')
  return [response.statusCode!, error.code]
}

async function closeOf(client: WebSocket): Promise<number> {
  if (client.readyState === WebSocket.CLOSED) throw new Error('it has closed before')
  return ((await once(client, 'close')) as [number])[0]
}

/** Everything that comes back on a connection, until the server closes it. */
async function answersTo(bytes: string): Promise<string> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  socket.write(bytes)
  return text(socket)
}

function received(client: WebSocket): { bytes: Buffer[]; sizes: number[]; kinds: Set<boolean> } {
  const all = { bytes: [] as Buffer[], sizes: [] as number[], kinds: new Set<boolean>() }
  client.on('message', (data: Buffer, isBinary) => {
    all.bytes.push(data)
    all.sizes.push(data.length)
    all.kinds.add(isBinary)
  })
  return all
}

function sha(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

describe('a tunnel is refused before the upgrade', () => {
  it('without a token in the header', async () => {
    expect(await refusal({ token: null })).toEqual([401, 'unauthorized'])
    expect(await refusal({ token: 'dpl_0' })).toEqual([401, 'unauthorized'])
    expect(await refusal({ token: null, query: `?access_token=${server.token}` })).toEqual([
      401,
      'unauthorized',
    ])
    expect(await refusal({ token: null, headers: { cookie: browser.cookie! } })).toEqual([
      401,
      'unauthorized',
    ])
  })

  it('to a page of another origin', async () => {
    expect(await refusal({ origin: 'https://evil.example' })).toEqual([403, 'cross_site_request'])
    expect(await refusal({ origin: 'null' })).toEqual([403, 'cross_site_request'])
    const { client } = await open({ origin: server.url })
    client.close()
  })

  it('to what is not there, not available or takes no connection', async () => {
    expect(await refusal({ name: 'nobody' })).toEqual([404, 'not_found'])
    expect(await refusal({ query: '?environment=nowhere' })).toEqual([404, 'not_found'])
    expect(await refusal({ query: '?envronment=production' })).toEqual([400, 'invalid_request'])
    await server.api('POST', '/datastores', { kind: 'keyvalue', name: 'unborn' })
    expect(await refusal({ name: 'unborn' })).toEqual([409, 'conflict'])
    await available('closed', 1)
    expect(await refusal({ name: 'closed' })).toEqual([502, 'runtime_error'])
  })

  it('to a request that is not for this WebSocket', async () => {
    const plain = await server.api('GET', '/datastores/db/tunnel')
    expect([plain.status, plain.body.error.code]).toEqual([426, 'upgrade_required'])
    expect(plain.headers.get('upgrade')).toBe('websocket')
    expect(await refusal({ protocolVersion: 8 })).toEqual([426, 'upgrade_required'])
    expect(await refusal({ protocols: [] })).toEqual([400, 'invalid_request'])
    expect(await refusal({ protocols: ['deployer.tcp.v2'] })).toEqual([400, 'invalid_request'])
    expect((await server.api('POST', '/datastores/db/tunnel')).status).toBe(405)
  })

  it('that is sent behind another request, or with a body', async () => {
    const head = [
      'GET /api/v1/datastores/db/tunnel HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${server.token}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      `Sec-WebSocket-Protocol: ${PROTOCOL}`,
    ]
    const first = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'
    const behind = await answersTo(`${first}${head.join('\r\n')}\r\n\r\n`)
    expect(behind.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 426'])
    const withBody = await answersTo([...head, 'Content-Length: 5', '', 'hello'].join('\r\n'))
    expect(withBody.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 426'])
  })

  it('under a name that is not its own, and at a path without a WebSocket', async () => {
    expect(await refusal({ headers: { host: 'evil.example' } })).toEqual([421, 'misdirected_request'])
    expect(await refusal({ name: 'nobody/nothing' })).toEqual([404, 'not_found'])
    const client = new WebSocket(`${server.url.replace('http', 'ws')}/healthz`)
    client.on('error', () => {})
    const [, response] = (await once(client, 'unexpected-response')) as [
      unknown,
      import('node:http').IncomingMessage,
    ]
    expect([response.statusCode, await text(response)]).toEqual([200, 'ok'])
  })
})

describe('the client', () => {
  const CERTIFICATES = new URL('../proxy/certificates/', import.meta.url).pathname
  const closing: Server[] = []

  afterAll(() => closing.forEach((each) => each.close()))

  async function listening(listener: Server): Promise<number> {
    closing.push(listener.listen(0, '127.0.0.1'))
    await once(listener, 'listening')
    return portOf(listener)
  }

  function joinEnds(one: Duplex, other: Duplex): void {
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      from.on('error', () => to.destroy())
      from.pipe(to)
    }
  }

  it('goes through the proxy that the environment names, and trusts the certificates that --ca names', async () => {
    const pem = { key: readFileSync(`${CERTIFICATES}app.key`), cert: readFileSync(`${CERTIFICATES}app.crt`) }
    const secure = await listening(
      createTlsServer(pem, (socket) =>
        joinEnds(socket, connect(Number(new URL(server.url).port), '127.0.0.1')),
      ),
    )
    const connected: string[] = []
    const proxy = await listening(
      createHttpServer().on('connect', ({ url = '' }, socket: Duplex) => {
        connected.push(url)
        socket.write('HTTP/1.1 200 Connected\r\n\r\n')
        joinEnds(socket, connect(secure, '127.0.0.1'))
      }),
    )
    const program = join(dirname(await builtServer()), '../cli/deployer.mjs')
    const env = {
      PATH: process.env.PATH,
      HOME: server.dataDirectory,
      DEPLOYER_HOST: 'https://app.test',
      DEPLOYER_TOKEN: server.token,
      HTTPS_PROXY: `http://127.0.0.1:${proxy}`,
    }
    const words = ['db', 'proxy', 'db', '--tunnel']
    const distrusted = spawn(process.execPath, [program, ...words], { env })
    expect([await text(distrusted.stderr), (await once(distrusted, 'close'))[0]]).toEqual([
      expect.stringMatching(/^deployer: the certificate of app\.test is not trusted .*--ca <file>\n$/),
      6,
    ])
    const child = spawn(process.execPath, [program, ...words, '--ca', `${CERTIFICATES}app.crt`], { env })
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    const address = String((await lines.next()).value)
    expect((await lines.next()).value).toBe(`redis://default@${address}`)
    const before = taken.length
    const local = connect(Number(address.split(':')[1]), '127.0.0.1')
    local.on('error', () => {})
    const store = await waitFor(() => taken[before], 'the connection')
    store.pipe(store)
    const bytes = randomBytes(4 * MIB)
    local.write(bytes)
    const back: Buffer[] = []
    local.on('data', (piece: Buffer) => back.push(piece))
    await waitFor(() => Buffer.concat(back).length >= bytes.length, 'all bytes')
    expect(sha(Buffer.concat(back))).toBe(sha(bytes))
    expect(new Set(connected)).toEqual(new Set(['app.test:443']))
    // The next connection is refused, and the proxy goes on.
    change("UPDATE datastores SET status = 'unavailable' WHERE name = 'db'")
    connect(Number(address.split(':')[1]), '127.0.0.1').on('error', () => {})
    const said = createInterface(child.stderr)[Symbol.asyncIterator]()
    expect((await said.next()).value).toMatch(/^deployer: datastore db is unavailable/)
    local.destroy()
    await waitFor(() => store.closed, 'the other end')
    child.kill('SIGINT')
    expect((await once(child, 'exit'))[0]).toBe(130)
  })
})

describe('a tunnel', () => {
  it('passes bytes in order, both ways, in binary messages of at most 64 KiB', async () => {
    const { client, store } = await open({ protocols: ['other', PROTOCOL] })
    expect(client.protocol).toBe(PROTOCOL)
    const bytes = randomBytes(8 * MIB)
    const all = received(client)
    store.pipe(store)
    for (let at = 0; at < bytes.length; at += MIB) client.send(bytes.subarray(at, at + MIB))
    await waitFor(() => all.sizes.reduce((sum, size) => sum + size, 0) >= bytes.length, 'all bytes')
    expect(sha(Buffer.concat(all.bytes))).toBe(sha(bytes))
    expect(Math.max(...all.sizes)).toBeLessThanOrEqual(64 * 1024)
    expect([...all.kinds]).toEqual([true])
    client.close()
  })

  it('passes through the data plane, where the dashboard has a host', async () => {
    const at = `http://127.0.0.1:${server.httpPort}`
    const { client, store } = await open({ at, headers: { host: 'panel.localhost' } })
    const bytes = randomBytes(4 * MIB)
    const all = received(client)
    store.pipe(store)
    for (let from = 0; from < bytes.length; from += MIB) client.send(bytes.subarray(from, from + MIB))
    await waitFor(() => all.sizes.reduce((sum, size) => sum + size, 0) >= bytes.length, 'all bytes')
    expect(sha(Buffer.concat(all.bytes))).toBe(sha(bytes))
    store.end()
    expect(await closeOf(client)).toBe(1000)
    expect(await refusal({ at, headers: { host: 'panel.localhost' }, token: null })).toEqual([
      401,
      'unauthorized',
    ])
  })

  it('ends as the datastore ends: in order, after its last byte, or broken', async () => {
    const ended = await open()
    const all = received(ended.client)
    const bytes = randomBytes(3 * MIB)
    // The client does not read yet.
    ended.client.pause()
    ended.store.resume().end(bytes)
    await new Promise((resolve) => setTimeout(resolve, 100))
    ended.client.resume()
    expect(await closeOf(ended.client)).toBe(1000)
    expect(sha(Buffer.concat(all.bytes))).toBe(sha(bytes))
    const broken = await open()
    broken.store.resetAndDestroy()
    expect(await closeOf(broken.client)).toBe(1001)
  })

  it('ends the connection to the datastore when the client closes it or is gone', async () => {
    const closed = await open()
    closed.client.send('last words'.repeat(10_000), { binary: true })
    closed.client.close(1000)
    expect(await text(closed.store)).toBe('last words'.repeat(10_000))
    const gone = await open()
    gone.client.terminate()
    expect(await text(gone.store)).toBe('')
  })

  it('closes on a text message with 1003, and on one that is too long with 1009', async () => {
    const text = await open()
    text.client.send('hello')
    expect(await closeOf(text.client)).toBe(1003)
    const long = await open()
    long.client.send(randomBytes(MIB + 1))
    expect(await closeOf(long.client)).toBe(1009)
    await waitFor(() => text.store.resume().closed && long.store.resume().closed, 'both ends')
    expect(server.logs).not.toContain(' error ')
  })

  it('slows down whoever sends to a slow reader, and loses nothing', async () => {
    const heldAtMost = 2 * systemBuffers() + 8 * MIB
    const bytes = randomBytes(Math.ceil(heldAtMost / MIB) * MIB + 24 * MIB)
    const { client, store } = await open()
    client.pause()
    // A client that does not read cannot answer pings either, and says by itself that it is there.
    const alive = setInterval(() => client.pong(), 100)
    const toClient = received(client)
    store.resume().write(bytes)
    await settled(() => store.bytesWritten - store.writableLength)
    expect(store.bytesWritten - store.writableLength).toBeLessThan(heldAtMost)
    client.resume()
    await waitFor(() => toClient.sizes.reduce((sum, size) => sum + size, 0) >= bytes.length, 'all bytes')
    expect(sha(Buffer.concat(toClient.bytes))).toBe(sha(bytes))
    clearInterval(alive)

    store.pause()
    for (let at = 0; at < bytes.length; at += MIB) client.send(bytes.subarray(at, at + MIB))
    await settled(() => client.bufferedAmount)
    expect(bytes.length - client.bufferedAmount).toBeLessThan(heldAtMost)
    const toStore: Buffer[] = []
    let size = 0
    store.on('data', (piece: Buffer) => {
      toStore.push(piece)
      size += piece.length
    })
    store.resume()
    await waitFor(() => size >= bytes.length, 'all bytes')
    expect(sha(Buffer.concat(toStore))).toBe(sha(bytes))
    client.close()
  })

  it('is pinged, and closes when the client does not answer', async () => {
    const answering = await open()
    const silent = await open({ autoPong: false })
    const other = await open()
    await once(answering.client, 'ping')
    await closeOf(silent.client)
    await waitFor(() => silent.store.resume().closed, 'its other end')
    await once(answering.client, 'ping')
    expect([answering.client.readyState, other.client.readyState]).toEqual([WebSocket.OPEN, WebSocket.OPEN])
    answering.client.close()
    other.client.close()
  })

  it('closes with 1008 when its token is revoked, in the dashboard or in the database', async () => {
    const [first, second] = await Promise.all(
      ['revoked', 'removed'].map(async (name) => (await browser.post('/auth/tokens', { name })).body),
    )
    const revoked = await open({ token: first.token })
    const removed = await open({ token: second.token })
    const stays = await open()
    await browser.delete(`/auth/tokens/${first.api_token.id}`)
    expect(await closeOf(revoked.client)).toBe(1008)
    change('DELETE FROM api_tokens WHERE id = ?', second.api_token.id)
    expect(await closeOf(removed.client)).toBe(1008)
    expect(stays.client.readyState).toBe(WebSocket.OPEN)
    stays.client.close()
    await waitFor(() => revoked.store.resume().closed, 'its other end')
  })

  it('is one of 64 at a time', async () => {
    await waitFor(() => count('a tunnel was opened') === count('a tunnel has ended'), 'the end of others')
    const all = await Promise.all(
      Array.from({ length: 64 }, async () => {
        const client = ask()
        await once(client, 'open')
        return client
      }),
    )
    expect(await refusal({})).toEqual([409, 'conflict'])
    for (const client of all) client.close()
    await waitFor(async () => (await open()).client.close() === undefined, 'room')
  })

  it('is in the log with its token, its datastore and how much passed, and nothing of what passed', async () => {
    const { token } = (await browser.post('/auth/tokens', { name: 'of the laptop' })).body
    const { client, store } = await open({ token })
    client.send(Buffer.from('a secret of 20 bytes'))
    store.resume().end('another secret')
    await closeOf(client)
    const line = await waitFor(
      () => server.logs.split('\n').find((line) => /has ended.*of the laptop/.test(line)),
      'the line',
    )
    expect(line).toMatch(/"datastore":"db".*"seconds":0,"bytes_to_datastore":20,"bytes_from_datastore":14/)
    expect(server.logs).toMatch(/a tunnel was opened.*of the laptop/)
    expect(server.logs).not.toContain('secret of')
    expect(server.logs).not.toContain('another secret')
  })

  it('closes with 1008 when its datastore is deleted', async () => {
    const { client } = await open()
    const closed = closeOf(client)
    // It stays until there is an engine to remove it with.
    void server.api('DELETE', '/datastores/db')
    expect(await closed).toBe(1008)
    expect(await refusal({})).toEqual([409, 'conflict'])
  })

  it('closes with 1001 when the server stops, even if its client says nothing', async () => {
    const { client } = await open()
    const deaf = await open()
    deaf.client.pause()
    const closed = closeOf(client)
    const began = performance.now()
    await server.kill('SIGTERM')
    expect(await closed).toBe(1001)
    // It would be killed after 9 s.
    expect(performance.now() - began).toBeLessThan(8_000)
  })
})

function count(words: string): number {
  return server.logs.split(words).length - 1
}

/** Waits until a number does not change any more. */
/** The most that the system itself holds of one direction of a connection, in bytes (tcp(7)). */
function systemBuffers(): number {
  return ['tcp_rmem', 'tcp_wmem']
    .map((name) => Number(readFileSync(`/proc/sys/net/ipv4/${name}`, 'utf8').split(/\s+/)[2]))
    .reduce((sum, bytes) => sum + bytes, 0)
}

async function settled(value: () => number): Promise<void> {
  let last = -1
  await waitFor(async () => {
    const before = last
    last = value()
    await new Promise((resolve) => setTimeout(resolve, 200))
    return value() === before
  }, 'a standstill')
}

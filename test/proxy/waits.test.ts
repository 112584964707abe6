import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect, createServer, type AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { RouteTable, Upstream } from '../../proxy/protocol.ts'
import { app, closing } from './lifetimes.ts'
import { OwnRelay } from './own-relay.ts'
import { secureTable } from './secure.ts'
import { HOST, RawUpstream, statusOf, waitFor } from './stand.ts'

/** More than the kernel keeps for a reader that takes nothing. */
const MUCH_BYTES = 64 * 1024 * 1024
/** A moment in which what should not happen would. */
const MOMENT_MS = 50
/** On this machine itself a connection is established at once, or waits for its turn. */
const QUEUED_MS = 200

function start(upstreams: Upstream[], more: Partial<RouteTable> = {}): Promise<OwnRelay> {
  return OwnRelay.start(secureTable(upstreams, { certificates: {}, ...more }))
}

/** An upstream that answers nothing. */
async function silent(): Promise<RawUpstream> {
  return closing(await RawUpstream.start(() => {}))
}

async function arrived(upstream: RawUpstream, text: string): Promise<void> {
  await waitFor(
    () => upstream.received.includes(text),
    () => `waiting for ${text}, the upstream has ${upstream.received}`,
  )
}

/** An instance whose program is stopped and whose queue of connections is full. */
async function stuckServer(): Promise<Upstream> {
  const script = `const server = require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    process.stdout.write(String(server.address().port))
  })`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [text] = (await once(child.stdout, 'data')) as [Buffer]
  const port = Number(text)
  child.kill('SIGSTOP')
  for (let full = false; !full;) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    onTestFinished(() => void socket.destroy())
    full = (await Promise.race([once(socket, 'connect'), sleep(QUEUED_MS, null)])) === null
  }
  return { instance: 'stuck', host: '127.0.0.1', port }
}

test('a head that stops is 408 after 30 s, and not before', async () => {
  const own = await start([(await app('v')).spec])
  const client = own.raw().send('GET / HTTP/1.1', `Host: ${HOST}`)
  await sleep(MOMENT_MS)
  await own.pass(29_000)
  await sleep(MOMENT_MS)
  expect(client.received).toBe('')
  await own.pass(2_000)
  expect(statusOf(await client.end())).toBe(408)
})

test('an idle connection is closed after 75 s, one without any request after 30 s', async () => {
  const own = await start([(await app('v')).spec])
  const mute = own.raw()
  const client = own.raw().request('GET /1 HTTP/1.1', `Host: ${HOST}`)
  await client.until('/1 v')
  await own.pass(31_000)
  expect(await mute.end()).toBe('')
  await own.pass(40_000)
  client.request('GET /2 HTTP/1.1', `Host: ${HOST}`)
  await client.until('/2 v')
  await own.pass(76_000)
  expect((await client.end()).match(/HTTP\/1\.1 200/g)).toHaveLength(2)
})

test('a body that stops is 408 after 60 s, counted from its last byte', async () => {
  const upstream = await silent()
  const own = await start([upstream.spec])
  const client = own.raw().request('POST / HTTP/1.1', `Host: ${HOST}`, 'Content-Length: 9')
  // Words that the request's id, which is hexadecimal, cannot contain.
  client.send('one')
  await arrived(upstream, 'one')
  await own.pass(50_000)
  client.send('two')
  await arrived(upstream, 'two')
  await own.pass(50_000)
  await sleep(MOMENT_MS)
  expect(client.received).toBe('')
  await own.pass(11_000)
  expect(statusOf(await client.end())).toBe(408)
})

test('a body that comes although its request was refused is waited for, for a limited time', async () => {
  const own = await start([(await app('v')).spec])
  const ask = ['POST / HTTP/1.1', 'Host: nobody.test', 'Content-Length: 9'] as const
  const [patient, broken] = [own.raw().request(...ask), own.raw().request(...ask)]
  await Promise.all([patient.until('</html>'), broken.until('</html>')])
  await own.pass(50_000)
  patient.send('123456789').request('GET /2 HTTP/1.1', `Host: ${HOST}`)
  await patient.until('/2 v')
  await own.pass(11_000)
  expect(statusOf(await broken.end())).toBe(404)
})

test('a silent upstream is 504 when its time is over, and the connection continues', async () => {
  const upstream = await silent()
  const own = await start([upstream.spec], { upstream_timeout_ms: 120_000 })
  const client = own.raw().request('GET /1 HTTP/1.1', `Host: ${HOST}`)
  await arrived(upstream, '/1')
  await own.pass(119_000)
  await sleep(MOMENT_MS)
  expect(client.received).toBe('')
  await own.pass(2_000)
  await client.until('</html>')
  expect(statusOf(client.received)).toBe(504)
  client.request('GET /2 HTTP/1.1', `Host: ${HOST}`)
  await arrived(upstream, '/2')
})

test('a client that has sent FIN gets its answer within 10 s or none', async () => {
  const upstream = await silent()
  const own = await start([upstream.spec])
  const [served, left] = [own.raw(), own.raw()]
  for (const [number, client] of [served, left].entries()) {
    client.request(`GET /${number} HTTP/1.1`, `Host: ${HOST}`).socket.end()
    await arrived(upstream, `/${number} `)
  }
  await own.pass(9_000)
  upstream.sockets[0]!.write('HTTP/1.1 204 No Content\r\n\r\n')
  expect(statusOf(await served.end())).toBe(204)
  await own.pass(2_000)
  expect(await left.end()).toBe('')
  expect(own.relay.routes.ledger.of('srv-app').row?.[0]).toBe(1)
})

test('streams and tunnels have no end, however long nothing comes', async () => {
  const upstream = closing(
    await RawUpstream.start((socket, piece) => {
      if (piece.includes('GET /ws'))
        socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n')
      else if (piece.includes('GET /stream'))
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n')
      else socket.write(piece)
    }),
  )
  const own = await start([upstream.spec])
  const tunnel = own.raw().request('GET /ws HTTP/1.1', `Host: ${HOST}`, 'Upgrade: x', 'Connection: upgrade')
  await tunnel.until('\r\n\r\n')
  const stream = own.raw().request('GET /stream HTTP/1.1', `Host: ${HOST}`)
  await stream.until('one')
  await own.pass(24 * 60 * 60_000)
  tunnel.send('echo')
  await tunnel.until('echo')
  upstream.sockets[1]!.write('3\r\ntwo\r\n0\r\n\r\n')
  await stream.until('two\r\n0\r\n\r\n')
  // Half of a tunnel is not waited for as long.
  tunnel.socket.end()
  await sleep(MOMENT_MS)
  await own.pass(11_000)
  await tunnel.end()
})

test('a reader that takes its answer slowly is waited for when the connection ends', async () => {
  const upstream = closing(
    await RawUpstream.start((socket, piece) => {
      if (piece.includes('\r\n\r\n'))
        socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${'x'.repeat(MUCH_BYTES)}`)
    }),
  )
  const own = await start([upstream.spec])
  const client = own.raw()
  client.socket.pause()
  client.request('GET / HTTP/1.1', `Host: ${HOST}`)
  await arrived(upstream, 'GET /')
  await own.pass(10 * 60_000)
  client.socket.resume()
  const answer = await client.end()
  expect(answer.length - answer.indexOf('\r\n\r\n') - 4).toBe(MUCH_BYTES)
})

test.each([
  ['a body goes over a connection of its own after an idle second', 'POST', 'Keep-Alive: timeout=30', 2, 2],
  ['a body goes over a connection that was idle for a moment', 'POST', 'Keep-Alive: timeout=30', 0, 1],
  ['what may be sent again goes over a connection that was kept', 'GET', 'Keep-Alive: timeout=30', 2, 1],
  ['nothing goes over one that was kept for longer than announced', 'GET', 'Keep-Alive: timeout=2', 3, 2],
])('%s', async (_what, method, keepAlive, seconds, connections) => {
  const upstream = closing(
    await RawUpstream.answering('HTTP/1.1 200 OK', keepAlive, 'Content-Length: 2', '', 'ok'),
  )
  const own = await start([upstream.spec])
  const ask = () =>
    own.raw().request(`${method} / HTTP/1.1`, `Host: ${HOST}`, 'Content-Length: 0', 'Connection: close').end()
  expect(statusOf(await ask())).toBe(200)
  await own.pass(seconds * 1_000)
  expect(statusOf(await ask())).toBe(200)
  expect(upstream.sockets).toHaveLength(connections)
})

test('an instance that accepts no connection within 5 s is skipped for another', async () => {
  const stuck = await stuckServer()
  const own = await start([stuck, (await app('there')).spec])
  const clients = [1, 2].map((number) => own.raw().request(`GET /${number} HTTP/1.1`, `Host: ${HOST}`))
  // They are chosen in turn.
  await expect.poll(() => clients.map(({ received }) => received !== '').sort()).toEqual([false, true])
  await own.pass(4_000)
  await sleep(MOMENT_MS)
  expect(clients.map(({ received }) => received !== '').sort()).toEqual([false, true])
  await own.pass(2_000)
  for (const [index, client] of clients.entries()) await client.until(`/${index + 1} there`)
})

test('an instance that accepts a connection while its worker is delayed has accepted it in time', async () => {
  const own = await start([(await app('there')).spec])
  const client = own.raw().request('GET / HTTP/1.1', `Host: ${HOST}`)
  // The request is read and the connection begun; that it is established shows in the next pass over the sockets.
  while (own.relay.openRequests === 0) await setImmediate()
  own.stall(6_000)
  expect(statusOf(await client.until('there'))).toBe(200)
})

test('the wait for a connection begins with its request, however long ago the clock was read', async () => {
  const own = await start([await stuckServer()])
  const client = own.raw()
  await once(client.socket, 'connect')
  await own.pass(0)
  client.request('GET / HTTP/1.1', `Host: ${HOST}`)
  await own.pass(6_000)
  await sleep(MOMENT_MS)
  expect(client.received).toBe('')
  await own.pass(6_000)
  expect(statusOf(await client.until('502'))).toBe(502)
})

test('an instance that refuses two connections gets no request for 10 s, and then again', async () => {
  const away = createServer().listen(0, '127.0.0.1')
  await once(away, 'listening')
  const { port } = away.address() as AddressInfo
  away.close()
  await once(away, 'close')
  const own = await start([(await app('there')).spec, { instance: 'away', host: '127.0.0.1', port }])
  const server = async () => {
    const answer = await own.raw().request('GET / HTTP/1.1', `Host: ${HOST}`, 'Connection: close').end()
    return answer.split(' ').at(-1)!
  }
  // Both instances are chosen in turn; what one refuses the other answers.
  for (let request = 0; request < 6; request++) expect(await server()).toBe('there')
  const back = await app('away')
  back.server.close()
  await once(back.server, 'close')
  back.server.listen(port, '127.0.0.1')
  await once(back.server, 'listening')
  await own.pass(9_000)
  for (let request = 0; request < 20; request++) expect(await server()).toBe('there')
  await own.pass(2_000)
  const answers = []
  for (let request = 0; request < 10; request++) answers.push(await server())
  expect(new Set(answers)).toEqual(new Set(['there', 'away']))
})

test('an HTTP/2 request may take longer than the time after which connections are watched', async () => {
  const upstream = await silent()
  const own = await OwnRelay.start(secureTable([upstream.spec], { upstream_timeout_ms: 60_000 }))
  const session = connectHttp2(`https://127.0.0.2:${own.portOf('https')}`, {
    servername: HOST,
    rejectUnauthorized: false,
  })
  session.on('error', () => {})
  onTestFinished(() => session.destroy())
  const stream = session.request({ ':authority': HOST, ':path': '/late' })
  await arrived(upstream, '/late')
  await own.pass(40_000)
  upstream.sockets[0]!.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate')
  expect(String(await buffer(stream))).toBe('late')
  await own.pass(70_000)
  expect(session.closed).toBe(false)
  await own.pass(6_000)
  await expect.poll(() => session.closed).toBe(true)
})

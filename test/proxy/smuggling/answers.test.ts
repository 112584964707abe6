import type { Socket } from 'node:net'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HOST, ProxyStand, RawUpstream, statusOf, tableOf, type RawConnection } from '../stand.ts'
import { BAD_ANSWERS, EVIL, EXCESSES, type BadAnswer } from './answers.ts'
import { H, SMUGGLED } from './cases.ts'
import { BROKEN } from './corpus.ts'

const NEXT = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext'

let stand: ProxyStand
let upstream: RawUpstream
/** What the upstream does with a request for anything but `/next`. */
let answer: (socket: Socket) => void | Promise<void> = () => {}
/** Settles when the upstream has sent everything that it has to say. */
let said: void | Promise<void>

beforeAll(async () => {
  upstream = await RawUpstream.start((socket, _piece, all) => {
    if (!all.includes('\r\n\r\n')) return false
    if (all.includes(' /next ')) socket.write(NEXT)
    else said = answer(socket)
    return true
  })
  stand = await ProxyStand.start(tableOf([upstream.spec]))
})
afterAll(async () => {
  await stand.stop()
  upstream.close()
})

/** Makes the upstream send these pieces, each separately. */
function answering(...pieces: readonly string[]): void {
  answer = async (socket) => {
    socket.setNoDelay()
    for (const piece of pieces) {
      if (!socket.writable) return
      socket.write(Buffer.from(piece, 'latin1'))
      await (piece.length === 1 ? setImmediate() : sleep(10))
    }
  }
}

/** Requests `/next` on the same connection: its answer must be its own. */
async function expectNext(client: RawConnection): Promise<void> {
  const before = client.received.length
  client.request('GET /next HTTP/1.1', H, 'Connection: close')
  await client.end()
  expect(client.received.slice(before)).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nnext$/)
  expect(client.received).not.toContain('evil')
}

test.each([
  ...BAD_ANSWERS,
  ...BROKEN.map(([what, body]): BadAnswer => [
    `a chunk with ${what}`,
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body}`,
  ]),
])('%s is 502, and the next answer on the connection is its own', async (_what, bytes) => {
  answering(bytes)
  const client = stand.raw().request('GET / HTTP/1.1', H)
  await client.until('</html>')
  expect(client.received.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '')).toMatch(/^HTTP\/1\.1 502 /)
  await expectNext(client)
})

test.each(BAD_ANSWERS.filter(([, bytes]) => bytes.length < 300))(
  '%s is 502 also when it comes byte by byte',
  async (_what, bytes) => {
    answering(...bytes)
    const client = stand.raw().request('GET / HTTP/1.1', H)
    await client.until('</html>')
    expect(client.received.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '')).toMatch(/^HTTP\/1\.1 502 /)
    client.close()
  },
)

test.each(EXCESSES)(
  'bytes $what reach no client, and the next answer is its own',
  async ({ method, pieces, status, body }) => {
    answering(...pieces)
    const client = stand.raw().request(`${method ?? 'GET'} / HTTP/1.1`, H)
    const received = await client.until(new RegExp(`\r\n\r\n${body}$`))
    // What comes while the connection idles closes it; what comes during the next exchange cannot be told apart from its answer.
    await said
    expect(statusOf(received)).toBe(status)
    expect(received).not.toMatch(status === 204 ? /content-length|transfer-encoding/i : /evil/)
    await expectNext(client)
    const other = stand.raw().request('GET /next HTTP/1.1', H, 'Connection: close')
    expect(await other.end()).toMatch(/\r\n\r\nnext$/)
  },
)

test.each(BROKEN.slice(0, 12))('a chunk with %s after good ones cuts the answer', async (_what, body) => {
  const isThere = Promise.withResolvers<void>()
  answer = async (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n')
    // Come together, the two would not be an answer at all.
    await isThere.promise
    socket.write(Buffer.from(body, 'latin1'))
  }
  const client = stand.raw().request('GET / HTTP/1.1', H)
  await client.until('ok\r\n')
  isThere.resolve()
  await client.end()
  expect(client.received).toMatch(/\r\n\r\n2\r\nok\r\n$/)
  expect(client.failed?.message).toContain('ECONNRESET')
})

test.each([
  ['nothing', ''],
  ['a part of a head', 'HTTP/1.1 200 OK\r\nContent-Le'],
  ['an interim answer', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
])('an upstream that ends its connection after %s is 502', async (_what, bytes) => {
  answer = (socket) => void socket.end(bytes)
  const client = stand.raw().request('POST / HTTP/1.1', H, 'Content-Length: 0')
  await client.until('</html>')
  expect(client.received.replace(/^HTTP\/1\.1 103 Early Hints\r\n\r\n/, '')).toMatch(/^HTTP\/1\.1 502 /)
  await expectNext(client)
})

test('an answer before the end of the body ends the connection: what follows is not a request', async () => {
  answering('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
  upstream.received = ''
  const client = stand.raw().request('POST / HTTP/1.1', H, 'Content-Length: 100')
  await client.until('ok')
  client.send('x'.repeat(100) + SMUGGLED)
  await client.end()
  expect(client.received.match(/HTTP\/1\.1 /g)).toHaveLength(1)
  expect(upstream.received).not.toContain('smuggled')
})

test('a thousand interim answers pass, and the last one counts', async () => {
  answering('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(1000) + NEXT + EVIL)
  const client = stand.raw().request('GET / HTTP/1.1', H)
  await client.until(/\r\n\r\nnext$/)
  expect(client.received.match(/ 103 Early Hints\r\n/g)).toHaveLength(1000)
  await expectNext(client)
})

test('HTTP/1.0 has no interim answers and gets none', async () => {
  answering('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(10) + NEXT)
  const received = await stand.raw().request('GET / HTTP/1.0', H).end()
  expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nnext$/)
})

test('an interim answer announces no body', async () => {
  answering(
    'HTTP/1.1 103 Early Hints\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\nContent-Length: 4\r\nConnection: x-a\r\nX-A: 1\r\n\r\n' + NEXT,
  )
  const client = stand.raw().request('GET / HTTP/1.1', H)
  await client.until('</html>')
  expect(statusOf(client.received)).toBe(502)
  answering(
    'HTTP/1.1 103 Early Hints\r\nContent-Length: 4\r\nConnection: x-a\r\nX-A: 1\r\nX-B: 2\r\n\r\n' + NEXT,
  )
  const other = stand.raw().request('GET / HTTP/1.1', H)
  expect(await other.until('next')).toMatch(
    /^HTTP\/1\.1 103 Early Hints\r\nX-B: 2\r\n\r\nHTTP\/1\.1 200 OK\r\n/,
  )
  client.close()
  other.close()
})

test('after a refused upgrade, what was sent after it stays a request', async () => {
  answering(NEXT)
  const client = stand
    .raw()
    .request('GET / HTTP/1.1', H, 'Connection: upgrade', 'Upgrade: websocket')
    .request('GET /next HTTP/1.1', H, 'X: tunnelled?')
  await client.until(/next[^]*next$/)
  expect(upstream.received).toMatch(/\r\nX: tunnelled\?\r\nX-Forwarded-For/)
  client.close()
})

test.each([
  ['h2c in answer to WebSocket', 'Upgrade: h2c'],
  ['h2c in a list', 'Upgrade: websocket, h2c'],
  ['no protocol', 'X: y'],
  ['an empty protocol', 'Upgrade:'],
])('101 with %s is 502', async (_what, field) => {
  answering(`HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\n${field}\r\n\r\nevil`)
  const client = stand
    .raw()
    .request('GET / HTTP/1.1', `Host: ${HOST}`, 'Connection: upgrade', 'Upgrade: websocket')
  await client.until('</html>')
  expect(statusOf(client.received)).toBe(502)
  await expectNext(client)
})

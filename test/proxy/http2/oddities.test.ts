import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { STREAM_WINDOW_BYTES } from '../../../proxy/http2/incoming-body.ts'
import { FLAG, FRAME, SETTING } from '../../../proxy/http2/protocol.ts'
import { secureTable } from '../secure.ts'
import { HOST, ProxyStand, RawUpstream, waitFor } from '../stand.ts'
import { GET, POST, RawHttp2, data, frame, headers, number, settings, type Fields } from './raw-client.ts'

const LARGE = Buffer.alloc(1024 * 1024, 'a message of some size ')
const PIECE_BYTES = 16_000
const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'
const SOCKET: Fields = [[':method', 'CONNECT'], [':protocol', 'websocket'], ...GET.slice(1)]

/** What the upstream does with a request, given everything that has come of it. */
let act: (socket: RawUpstream['sockets'][number], piece: string, all: string) => boolean | void = () => {}
let upstream: RawUpstream
let stand: ProxyStand
beforeAll(async () => {
  upstream = await RawUpstream.start((...given) => act(...given))
  stand = await ProxyStand.start(secureTable([upstream.spec]))
})
afterAll(async () => {
  await stand.stop()
  upstream.close()
})
beforeEach(() => void (upstream.received = ''))

/** Answers each request whose head has come with these bytes; with `ends` the connection ends after them. */
function answer(bytes: string, ends = false): void {
  act = (socket, _piece, all) => {
    if (!all.includes('\r\n\r\n')) return
    socket.write(Buffer.from(bytes, 'latin1'))
    if (ends) socket.end()
    return true
  }
}

const ok = (body: string, more = '') =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n${more}\r\n${body}`

/** How many bytes of a stream a client may have sent. */
function allowed(client: RawHttp2, id: number): number {
  const more = client.frames.filter((given) => given.id === id && given.type === FRAME.windowUpdate)
  return more.reduce((sum, { content }) => sum + content.readUInt32BE(0), STREAM_WINDOW_BYTES)
}

test.each([
  [
    'an answer without a body that has one',
    'HEAD',
    `HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody`,
    ':status=200 content-length=4 end',
  ],
  ['204 with content', 'GET', 'HTTP/1.1 204 No Content\r\n\r\nsmuggled', ':status=204 end'],
  [
    '304 with content',
    'GET',
    'HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\nbody',
    ':status=304 content-length=4 end',
  ],
  [
    'more than was announced',
    'GET',
    `${ok('body')}HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled`,
    ':status=200 content-length=4, body end',
  ],
])('%s: the rest reaches nobody', async (_name, method, bytes, expected) => {
  answer(bytes)
  const client = await RawHttp2.open(stand)
  client.send(headers(1, [[':method', method], ...GET.slice(1)]))
  expect(await client.told(1)).toBe(expected)
  answer(ok('good'))
  expect(await client.send(headers(3)).told(3)).toBe(':status=200 content-length=4, good end')
})

test('an answer that ends before its announced length is not complete', async () => {
  answer('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort', true)
  const client = await RawHttp2.open(stand)
  expect(await client.send(headers(1)).told(1)).toBe(':status=200 content-length=10, short, reset 2')
  answer('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n', true)
  expect(await client.send(headers(3)).told(3)).toBe(':status=200, short, reset 2')
  answer('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nwhole', true)
  expect(await client.send(headers(5)).told(5)).toMatch(/^:status=200, whole(, )? end$/)
})

test.each([true, false])(
  'an answer to a body that has not come is sent completely, and the body is not requested',
  async (ends) => {
    answer(ok('enough', 'Connection: close\r\n'), ends)
    const client = await RawHttp2.open(stand)
    for (const [id, more] of [
      [1, []],
      [3, [['expect', '100-continue']]],
      [5, [['content-length', '900000']]],
    ] as [number, Fields][]) {
      client.send(headers(id, [...POST, ...more], false))
      if (id !== 3) client.send(data(id, 'some'))
      await client.until(({ id: of, type }) => of === id && type === FRAME.reset)
      expect(await client.told(id)).toBe(':status=200 content-length=6, enough end, reset 0')
      // What was on its way, and a reset that crosses ours, mean nothing.
      client.send(data(id, 'more'), frame(FRAME.reset, 0, id, number(8)))
    }
    answer(ok('good'))
    expect(await client.send(headers(7)).told(7)).toContain('good')
  },
)

test('hints and trailers come in order, with a body and without', async () => {
  const hint = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n'
  answer(
    `${hint}${hint}HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: grpc-status\r\n\r\n0\r\ngrpc-status: 0\r\n\r\n`,
  )
  const client = await RawHttp2.open(stand)
  const early = ':status=103 link=</a.css>; rel=preload'
  expect(await client.send(headers(1, [...GET, ['te', 'trailers']])).told(1)).toBe(
    `${early}, ${early}, :status=200 trailer=grpc-status, grpc-status=0 end`,
  )
  answer(
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\ngrpc-status: 5\r\ngrpc-message: no\r\n\r\n',
  )
  expect(await client.send(headers(3)).told(3)).toBe(':status=200, abc, grpc-status=5 grpc-message=no end')
})

test('trailers of a request without other content reach the upstream', async () => {
  act = (socket, _piece, all) => {
    if (!all.endsWith('\r\n\r\n') || !all.includes('x-last')) return
    socket.write(ok('done'))
    return true
  }
  const client = await RawHttp2.open(stand)
  client.send(headers(1, POST, false), headers(1, [['x-last', 'word']]))
  expect(await client.told(1)).toBe(':status=200 content-length=4, done end')
  expect(upstream.received).toMatch(/\r\n\r\n0\r\nx-last: word\r\n\r\n$/)
})

test('the asterisk of OPTIONS, a path of 8,000 letters and 990 cookie parts pass as they are', async () => {
  answer(ok('good'))
  const client = await RawHttp2.open(stand)
  const to = (method: string, path: string): Fields => [
    [':method', method],
    [':scheme', 'https'],
    [':path', path],
    [':authority', HOST],
  ]
  client.send(headers(1, to('OPTIONS', '*')))
  expect(await client.told(1)).toContain('good')
  expect(upstream.received).toMatch(/^OPTIONS \* HTTP\/1\.1\r\n/)
  const path = `/${'x'.repeat(8_000)}`
  expect(await client.send(headers(3, to('GET', path))).told(3)).toContain('good')
  expect(upstream.received).toContain(`GET ${path} HTTP/1.1\r\n`)
  const crumbs = Array.from({ length: 990 }, (_, index) => ['cookie', `c${index}=1`] as const)
  expect(await client.send(headers(5, [...GET, ...crumbs])).told(5)).toContain('good')
  expect(upstream.received).toContain(`cookie: ${crumbs.map(([, crumb]) => crumb).join('; ')}\r\n`)
})

test('a cookie part that signs in to the dashboard reaches no service, and its neighbours do', async () => {
  answer(ok('good'))
  const client = await RawHttp2.open(stand)
  const crumbs = ['a=1', 'deployer_session_7878=a1b2', 'b=2'].map((crumb) => ['cookie', crumb] as const)
  expect(await client.send(headers(1, [...GET, ...crumbs])).told(1)).toContain('good')
  expect(upstream.received).toContain('cookie: a=1; deployer_session_7878=****; b=2\r\n')
})

test.each(['http://app.test/', 'app.test', '//', '/\u00e4', '/#fragment', '/a\\b'])(
  'the target %s is passed on or refused, and never changed into another',
  async (path) => {
    answer(ok('good'))
    const client = await RawHttp2.open(stand)
    const outcome = await client
      .send(
        headers(1, [
          [':method', 'GET'],
          [':scheme', 'https'],
          [':path', path],
          [':authority', HOST],
        ]),
      )
      .outcome(1)
    if (outcome === '200') expect(upstream.requestLines).toEqual([`GET ${path} HTTP/1.1`])
    else expect([outcome, upstream.received]).toEqual(['reset 1', ''])
  },
)

test('a WebSocket accepts messages of 1 MiB both ways, and each side ends its half', async () => {
  act = (socket, _piece, all) => {
    if (!all.includes('\r\n\r\n')) return
    socket.write(SWITCH)
    // The client has ended its half: now it is the upstream's turn to speak.
    socket.removeAllListeners('end').on('end', () => socket.end(LARGE))
    return true
  }
  const client = await RawHttp2.open(stand)
  const window = settings([SETTING.initialWindowSize, LARGE.length])
  client.send(window, frame(FRAME.windowUpdate, 0, 0, number(LARGE.length)), headers(1, SOCKET, false))
  expect(await client.outcome(1)).toBe('200')
  for (let at = 0; at < LARGE.length; at += PIECE_BYTES) {
    const piece = LARGE.subarray(at, at + PIECE_BYTES)
    await waitFor(
      () => allowed(client, 1) >= at + piece.length,
      () => `no window after ${at} bytes`,
    )
    client.send(data(1, piece))
  }
  await waitFor(
    () => upstream.received.endsWith(LARGE.toString('latin1')),
    () => `${upstream.received.length} bytes have come`,
  )
  client.send(data(1, '', true))
  await client.until(
    ({ id, type, flags }) => id === 1 && type === FRAME.data && (flags & FLAG.endStream) !== 0,
  )
  expect(client.body(1).equals(LARGE)).toBe(true)
})

test('an answer to a body that is still being sent arrives, although the upstream stops reading and leaves', async () => {
  act = (socket, _piece, all) => {
    if (!all.includes('\r\n\r\n')) return
    socket.pause()
    socket.write('HTTP/1.1 413 Content Too Large\r\nContent-Length: 4\r\nConnection: close\r\n\r\nmuch', () =>
      socket.destroy(),
    )
    return true
  }
  const client = await RawHttp2.open(stand)
  const outcomes = []
  for (let id = 1; id < 40; id += 2) {
    client.send(headers(id, [...POST, ['content-length', '10000000']], false))
    for (let sent = 0; sent < 10; sent++) client.send(data(id, LARGE.subarray(0, 16_000)))
    await client.until(({ id: of, type }) => of === id && type === FRAME.reset)
    outcomes.push(await client.told(id))
  }
  expect(new Set(outcomes)).toEqual(new Set([':status=413 content-length=4, much end, reset 0']))
})

test('an early answer arrives completely at a client that reads it later, although the upstream has reset the connection', async () => {
  // More than is read of it before the client's window is used up, and no more than the kernel keeps of what is not read.
  const body = 'much'.repeat(42_500)
  // What its kernel has not sent yet goes with a connection that it resets.
  let leave = () => {}
  act = (socket, _piece, all) => {
    if (!all.includes('\r\n\r\n')) return
    socket.pause()
    const head = `HTTP/1.1 413 Content Too Large\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`
    socket.write(head + body)
    leave = () => socket.destroy()
    return true
  }
  const client = await RawHttp2.open(stand)
  client.send(headers(1, [...POST, ['content-length', '10000000']], false), data(1, 'x'))
  await waitFor(
    () => client.bytes(1) === 65_535,
    () => `${client.bytes(1)} bytes`,
  )
  leave()
  // Each is a pass over the sockets or more.
  for (let looks = 1; looks <= 10; looks++) {
    client.send(data(1, LARGE.subarray(0, 1_000)), frame(FRAME.ping, 0, 0, 'abcdefgh'))
    await waitFor(
      () => client.frames.filter(({ type }) => type === FRAME.ping).length === looks,
      () => 'no answer to PING',
    )
  }
  const PLENTY = number(1_000_000)
  client.send(frame(FRAME.windowUpdate, 0, 0, PLENTY), frame(FRAME.windowUpdate, 0, 1, PLENTY))
  await client.until(({ id, type }) => id === 1 && type === FRAME.reset)
  expect(client.body(1).equals(Buffer.from(body))).toBe(true)
  expect(await client.told(1)).toMatch(/much end, reset 0$/)
})

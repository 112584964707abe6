import { once } from 'node:events'
import { connect } from 'node:http2'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { ERROR, FLAG, FRAME, SETTING } from '../../../proxy/http2/protocol.ts'
import { secureTable } from '../secure.ts'
import { HOST, ProxyStand, RawUpstream, waitFor } from '../stand.ts'
import {
  GET,
  POST,
  RawHttp2,
  data,
  frame,
  headers,
  number,
  settings,
  type Fields,
  type Frame,
} from './raw-client.ts'

type Act = (socket: RawUpstream['sockets'][number], piece: string, all: string) => boolean | void

/** What the service does with a request, given everything that has come of it. */
let act: Act = () => {}
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

/** Answers each head with these bytes; after them the connection stays, is ended, or is reset. */
function answer(bytes: string, then: 'stays' | 'ends' | 'resets' = 'stays'): void {
  act = (socket, _piece, all) => {
    if (!all.includes('\r\n\r\n')) return
    socket.write(Buffer.from(bytes, 'latin1'))
    if (then === 'ends') socket.end()
    // What was said has to arrive before.
    if (then === 'resets') setTimeout(() => socket.resetAndDestroy(), 50)
    return true
  }
}

const path = (value: string): Fields =>
  GET.map(([name, given]) => [name, name === ':path' ? value : given] as const)
const ok = (body: string, more = '') =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n${more}\r\n${body}`
const OK = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = 'Transfer-Encoding: chunked\r\n'
const BAD = /^:status=502 [^]* end$/

/** What a service says to a GET, what it does then, and what its client learns of it. */
const SAID: readonly (readonly [
  what: string,
  bytes: string,
  then: 'stays' | 'ends' | 'resets',
  told: string | RegExp,
])[] = [
  // Interim answers
  [
    '100 that nobody waits for',
    `HTTP/1.1 100 Continue\r\n\r\n${ok('body')}`,
    'stays',
    ':status=100, :status=200 content-length=4, body end',
  ],
  [
    'an interim answer that announces a length',
    `HTTP/1.1 103 Early Hints\r\nContent-Length: 4\r\n\r\n${ok('body')}`,
    'stays',
    ':status=103, :status=200 content-length=4, body end',
  ],
  [
    'an interim answer that announces chunks',
    `HTTP/1.1 103 Early Hints\r\n${CHUNKED}\r\n${ok('body')}`,
    'stays',
    ':status=103, :status=200 content-length=4, body end',
  ],
  [
    'an interim answer with a body',
    `HTTP/1.1 103 Early Hints\r\nContent-Length: 4\r\n\r\nbody${ok('body')}`,
    'stays',
    /^:status=103, :status=502 [^]* end$/,
  ],
  [
    'an interim answer with fields that HTTP/2 does not have',
    `HTTP/1.1 103 Early Hints\r\nConnection: x-a\r\nX-A: b\r\nUpgrade: foo\r\nLink: </a>\r\n\r\n${ok('body')}`,
    'stays',
    ':status=103 link=</a>, :status=200 content-length=4, body end',
  ],
  ['an interim answer alone', 'HTTP/1.1 103 Early Hints\r\n\r\n', 'ends', /^:status=103, :status=502 /],
  [
    'a switch that nobody asked for',
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n',
    'stays',
    BAD,
  ],
  [
    'a switch after an interim answer',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n',
    'stays',
    /^:status=100, :status=502 /,
  ],
  // Statuses
  ...['000', '099', '600', '999', '1000', '20', '2 0', '+20', '-20'].map(
    (status) =>
      [`the status ${status}`, `HTTP/1.1 ${status} Odd\r\nContent-Length: 0\r\n\r\n`, 'stays', BAD] as const,
  ),
  [
    'the status 599',
    'HTTP/1.1 599 Odd\r\nContent-Length: 0\r\n\r\n',
    'stays',
    ':status=599 content-length=0 end',
  ],
  // Lengths
  ['two lengths', `${OK}Content-Length: 4\r\nContent-Length: 5\r\n\r\nbody`, 'stays', BAD],
  ['two lengths that agree', `${OK}Content-Length: 4\r\nContent-Length: 4\r\n\r\nbody`, 'stays', BAD],
  ['a list of lengths', `${OK}Content-Length: 4, 4\r\n\r\nbody`, 'stays', BAD],
  ['a length with a sign', `${OK}Content-Length: +4\r\n\r\nbody`, 'stays', BAD],
  ['a length and chunks', `${OK}Content-Length: 4\r\n${CHUNKED}\r\n4\r\nbody\r\n0\r\n\r\n`, 'stays', BAD],
  ['chunks in HTTP/1.0', `HTTP/1.0 200 OK\r\n${CHUNKED}\r\n4\r\nbody\r\n0\r\n\r\n`, 'stays', BAD],
  [
    'nothing of the announced length',
    `${OK}Content-Length: 4\r\n\r\n`,
    'ends',
    ':status=200 content-length=4, reset 2',
  ],
  ['a whole answer before a reset', ok('body'), 'resets', ':status=200 content-length=4, body end'],
  ['an answer by its end before a reset', `${OK}\r\nbody`, 'resets', ':status=200, body, reset 2'],
  // Answers without a body
  [
    '204 that announces a length',
    'HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nbody',
    'stays',
    ':status=204 end',
  ],
  [
    '204 that announces chunks',
    `HTTP/1.1 204 No Content\r\n${CHUNKED}Trailer: x-a\r\n\r\n0\r\nX-A: b\r\n\r\n`,
    'stays',
    ':status=204 trailer=x-a end',
  ],
  [
    '304 that announces chunks',
    `HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n${CHUNKED}\r\n4\r\nbody\r\n0\r\n\r\n`,
    'stays',
    ':status=304 etag="a" end',
  ],
  // Chunks
  [
    'a chunk extension of a megabyte',
    `${OK}${CHUNKED}\r\n4\r\nbody\r\n4;${'a'.repeat(1_000_000)}\r\nmore\r\n0\r\n\r\n`,
    'stays',
    /^:status=(?:502 [^]* end|200, body, reset 2)$/,
  ],
  [
    'a first chunk of no size',
    `${OK}${CHUNKED}\r\n;a=b\r\nbody`,
    'stays',
    /^:status=(?:502 [^]*|200, reset 2)$/,
  ],
  [
    'a chunk that is longer than its size',
    `${OK}${CHUNKED}\r\n4\r\nbodymore\r\n0\r\n\r\n`,
    'stays',
    /^:status=(?:502 [^]* end|200, body, reset 2)$/,
  ],
  [
    'a chunk extension',
    `${OK}${CHUNKED}\r\n4;a="b;c\\""\r\nbody\r\n0;last\r\n\r\n`,
    'stays',
    ':status=200, body end',
  ],
  // Trailers
  [
    'trailers that are cut',
    `${OK}${CHUNKED}\r\n4\r\nbody\r\n0\r\nX-A: b\r\nX-B: `,
    'ends',
    ':status=200, body, reset 2',
  ],
  [
    'trailers that are cut by a reset',
    `${OK}${CHUNKED}\r\n4\r\nbody\r\n0\r\nX-A: b\r\n`,
    'resets',
    ':status=200, body, reset 2',
  ],
  [
    'trailers of odd values',
    `${OK}${CHUNKED}\r\n4\r\nbody\r\n0\r\nX-A:\r\nx-B: \t caf\xe9 \t\r\n\r\n`,
    'stays',
    ':status=200, body, x-a= x-b=caf\xe9 end',
  ],
  ...['Content-Length: 9', 'Transfer-Encoding: chunked', 'Connection: close', 'TE: gzip', 'Trailer: a'].map(
    (line) =>
      [
        `the trailer ${line}`,
        `${OK}${CHUNKED}\r\n4\r\nbody\r\n0\r\n${line}\r\n\r\n`,
        'stays',
        /^:status=(?:502 [^]* end|200, body, reset 2)$/,
      ] as const,
  ),
  [
    'a trailer that looks like a pseudo field',
    `${OK}${CHUNKED}\r\n4\r\nbody\r\n0\r\n:status: 500\r\n\r\n`,
    'stays',
    /^:status=(?:502 [^]* end|200, body, reset 2)$/,
  ],
  // Fields
  ['a field that looks like a pseudo field', `${OK}:status: 500\r\nContent-Length: 0\r\n\r\n`, 'stays', BAD],
  [
    'fields of a connection',
    ok(
      'body',
      'Connection: keep-alive, X-Gone\r\nKeep-Alive: timeout=5\r\nX-Gone: a\r\nProxy-Connection: close\r\nUpgrade: h2c\r\nTE: gzip\r\n',
    ),
    'stays',
    ':status=200 content-length=4, body end',
  ],
  [
    'an offer of other protocols',
    `HTTP/1.1 426 Upgrade Required\r\nUpgrade: foo\r\nConnection: upgrade\r\nContent-Length: 0\r\n\r\n`,
    'stays',
    ':status=426 content-length=0 end',
  ],
  [
    'a name in upper case',
    ok('', 'X-UPPER_Case: A\r\n'),
    'stays',
    ':status=200 content-length=0 x-upper_case=A end',
  ],
]

test.each(SAID)('%s: the next answer is the next', async (_what, bytes, then, told) => {
  answer(bytes, then)
  const client = await RawHttp2.open(stand)
  const outcome = await client.send(headers(1)).told(1)
  if (typeof told === 'string') expect(outcome).toBe(told)
  else expect(outcome).toMatch(told)
  answer(ok('good'))
  expect(await client.send(headers(3)).told(3)).toBe(':status=200 content-length=4, good end')
})

test.each([
  ['a length', `${OK}Content-Length: 4\r\n\r\n`, ':status=200 content-length=4 end'],
  ['chunks', `${OK}${CHUNKED}\r\n4\r\nbody\r\n0\r\n\r\n`, ':status=200 end'],
  ['neither', `${OK}X-A: b\r\n\r\n`, ':status=200 x-a=b end'],
  ['a body of what follows', ok('body'), ':status=200 content-length=4 end'],
])(
  'HEAD that is answered with %s has no body, and the next answer is the next',
  async (_what, bytes, told) => {
    answer(bytes)
    const client = await RawHttp2.open(stand)
    const head = headers(1, [[':method', 'HEAD'], ...GET.slice(1)])
    expect(await client.send(head).told(1)).toBe(told)
    answer(ok('good'))
    expect(await client.send(headers(3)).told(3)).toContain('good')
  },
)

test.each([
  ['GET', '', '200', 2],
  ['HEAD', '', '200', 2],
  ['OPTIONS', '', '200', 2],
  ['PUT', '', '200', 2],
  ['DELETE', '', '200', 2],
  ['POST', '', '502', 1],
  ['PATCH', '', '502', 1],
  ['GET', 'body', '502', 1],
  ['PUT', 'body', '502', 1],
])(
  '%s with the body "%s" that meets the end of a kept connection is answered with %s, and sent %i times',
  async (method, body, status, times) => {
    const served = new WeakSet<object>()
    act = (socket, _piece, all) => {
      if (!all.includes('\r\n\r\n')) return
      // Each connection serves one request, and ends at the next.
      if (served.has(socket)) socket.destroy()
      else socket.write(ok(method === 'HEAD' ? '' : 'good'))
      served.add(socket)
      return true
    }
    const client = await RawHttp2.open(stand)
    expect(await client.send(headers(1)).outcome(1)).toBe('200')
    upstream.received = ''
    const asked = [[':method', method] as const, ...path('/once').slice(1)]
    client.send(headers(3, asked, body === ''))
    if (body !== '') client.send(data(3, body, true))
    expect(await client.outcome(3)).toBe(status)
    expect(upstream.requestLines).toEqual(Array.from({ length: times }, () => `${method} /once HTTP/1.1`))
  },
)

test('chunks of one byte, a moment apart, make whole answers on many streams at once', async () => {
  const words = 'abcdefghijklmnopqrstuvwxyz'
  act = (socket, _piece, all) => {
    if (!all.includes('\r\n\r\n')) return
    const name = /^GET \/(\d+) /.exec(all)![1]!
    const chunks = [...`${name} ${words}`].map((letter) => `1\r\n${letter}\r\n`)
    socket.write(`${OK}${CHUNKED}\r\n`)
    const say = () => {
      const chunk = chunks.shift()
      socket.write(chunk ?? '0\r\nx-sum: 1\r\n\r\n')
      if (chunk) setTimeout(say, 1)
    }
    say()
    return true
  }
  const client = await RawHttp2.open(stand)
  const ids = Array.from({ length: 60 }, (_, index) => index * 2 + 1)
  client.send(...ids.map((id) => headers(id, path(`/${id}`))))
  for (const id of ids) {
    await client.until((given) => given.id === id && (given.flags & FLAG.endStream) !== 0)
    expect(client.body(id).toString()).toBe(`${id} ${words}`)
  }
})

const MUCH_BYTES = 64 * 1024 * 1024

test('a client that waits for 100 gets it, however much waits for it', async () => {
  // Longer than what is left of what is put together for a client that reads nothing.
  const padding = `X-Padding: ${'a'.repeat(600)}\r\n`
  act = (socket, _piece, all) => {
    if (!all.includes('\r\n\r\n')) return
    if (all.startsWith('GET')) {
      socket.write(`${OK}Content-Length: ${MUCH_BYTES}\r\n\r\n`)
      socket.write(Buffer.alloc(MUCH_BYTES))
    } else socket.write(`HTTP/1.1 100 Continue\r\n${padding}\r\n`)
    return true
  }
  const client = await RawHttp2.open(stand)
  client.send(settings([SETTING.initialWindowSize, MUCH_BYTES]))
  client.send(frame(FRAME.windowUpdate, 0, 0, number(MUCH_BYTES)), headers(1))
  await client.until(({ type }) => type === FRAME.data)
  client.pause()
  const large = upstream.sockets.find((socket) => socket.writableLength > 0)!
  for (let before = -1; before !== large.writableLength;) {
    before = large.writableLength
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
  const ids = Array.from({ length: 10 }, (_, index) => index * 2 + 3)
  const before = upstream.received.length
  client.send(...ids.map((id) => headers(id, [...POST, ['expect', '100-continue']], false)))
  await waitFor(
    () => upstream.received.slice(before).split('POST / ').length === ids.length + 1,
    () => upstream.received.slice(before),
  )
  await new Promise((resolve) => setTimeout(resolve, 100))
  client.resume()
  for (const id of ids) await client.until((given) => given.id === id && given.type === FRAME.headers)
})

test('a client that changes the size of its table again and again reads every answer', async () => {
  let turn = 0
  act = (socket, _piece, all) => {
    if (!all.includes('\r\n\r\n')) return
    turn++
    const fields = `Server: some\r\nX-Turn: ${turn}\r\nCache-Control: max-age=${turn % 3}\r\nVary: Origin\r\n`
    socket.write(`${OK}${fields}${CHUNKED}\r\n0\r\nx-last: ${turn}\r\n\r\n`)
    return true
  }
  const { port } = stand.client.bound.find(({ host }) => host === '127.0.0.2')!
  const session = connect(`https://127.0.0.2:${port}`, { servername: HOST, rejectUnauthorized: false })
  onTestFinished(() => session.destroy())
  await once(session, 'connect')
  const ask = async () => {
    const stream = session.request({ ':authority': HOST })
    let last: unknown
    stream.on('trailers', (trailers) => (last = trailers['x-last']))
    const [head] = (await once(stream, 'response')) as [Record<string, string>]
    await once(stream.resume(), 'end')
    return { ...head, last }
  }
  for (const headerTableSize of [0, 4_096, 100, 0, 65_536, 64, 4_096, 1, 2_000]) {
    session.settings({ headerTableSize })
    for (let time = 0; time < 4; time++) {
      expect(await ask()).toMatchObject({
        server: 'some',
        vary: 'Origin',
        'x-turn': String(turn),
        'cache-control': `max-age=${turn % 3}`,
        last: String(turn),
      })
    }
  }
})

/** So many streams that the server has reset are remembered. */
const REMEMBERED = 256

test('frames for streams that were answered early are ignored, for the last 256 of them', async () => {
  answer(`HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n`)
  const client = await RawHttp2.open(stand)
  const idOf = (turn: number) => turn * 2 + 1
  for (let turn = 0; turn <= REMEMBERED; turn++) {
    client.send(headers(idOf(turn), POST, false))
    await client.until(({ type, id }) => type === FRAME.reset && id === idOf(turn))
  }
  const resets = () => client.frames.filter(({ type }) => type === FRAME.reset).length
  const before = resets()
  const late = Array.from({ length: REMEMBERED }, (_, turn) => data(idOf(turn + 1), 'late'))
  const isPong = ({ type }: Frame) => type === FRAME.ping
  await client.send(...late, frame(FRAME.ping, 0, 0, 'abcdefgh')).until(isPong)
  expect(resets()).toBe(before)
  client.send(data(idOf(0), 'late'))
  const { content } = await client.until(
    ({ type, id, content }) => type === FRAME.reset && id === 1 && content.readUInt32BE(0) !== ERROR.none,
  )
  expect(content.readUInt32BE(0)).toBe(ERROR.streamClosed)
})

test('a client that says goodbye and keeps sending requests is answered, and then its connection ends', async () => {
  answer(ok('good'))
  const client = await RawHttp2.open(stand)
  client.send(headers(1), frame(FRAME.goAway, 0, 0, Buffer.alloc(8)), headers(3))
  expect(await client.told(1)).toContain('good')
  expect(await client.told(3)).toContain('good')
  await client.end()
})

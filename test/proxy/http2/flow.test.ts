import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { ERROR, FLAG, FRAME, SETTING } from '../../../proxy/http2/protocol.ts'
import { closing, start as startStand } from '../lifetimes.ts'
import { certificate, secureTable } from '../secure.ts'
import { HOST, HttpUpstream, type ProxyStand, RawUpstream, waitFor } from '../stand.ts'
import { GET, POST, RawHttp2, data, frame, headers, number, settings, type Fields } from './raw-client.ts'

const LARGE = Buffer.alloc(300_000, 'large ')
const WINDOW = 65_535

async function upstream(listener: Parameters<typeof HttpUpstream.start>[1]): Promise<HttpUpstream> {
  return closing(await HttpUpstream.start('app', listener))
}

/** With an app behind it that answers with a large body, or for `/small` with a small one. */
async function largeApp(): Promise<ProxyStand> {
  const app = await upstream((incoming, response) => {
    incoming.resume()
    response.end(incoming.url === '/small' ? 'small' : LARGE)
  })
  return startStand(secureTable([app.spec]))
}

const path = (value: string, ...more: Fields): Fields => [
  ...GET.map(([name, given]) => [name, name === ':path' ? value : given] as const),
  ...more,
]

const ends = (id: number) => (given: { id: number; flags: number; type: number }) =>
  given.id === id && given.type === FRAME.data && (given.flags & FLAG.endStream) !== 0

test('no more than the windows is sent, and the rest when they are widened', async () => {
  const client = await RawHttp2.open(await largeApp())
  client.send(headers(1))
  await waitFor(
    () => client.body(1).length >= WINDOW,
    () => `${client.body(1).length} bytes`,
  )
  expect(client.body(1).length).toBe(WINDOW)
  // That of the connection alone lets nothing through.
  client.send(frame(FRAME.windowUpdate, 0, 0, number(1_000_000)), frame(FRAME.ping, 0, 0, 'abcdefgh'))
  await client.until(({ type, flags }) => type === FRAME.ping && flags === FLAG.ack)
  expect(client.body(1).length).toBe(WINDOW)
  client.send(frame(FRAME.windowUpdate, 0, 1, number(1_000_000)))
  await client.until(ends(1))
  expect(client.body(1).equals(LARGE)).toBe(true)
})

test('a change of the initial window applies to open streams, and may make their windows negative', async () => {
  const client = await RawHttp2.open(await largeApp())
  client.send(headers(1))
  await waitFor(
    () => client.body(1).length === WINDOW,
    () => `${client.body(1).length} bytes`,
  )
  client.send(settings([SETTING.initialWindowSize, 0]), frame(FRAME.windowUpdate, 0, 0, number(1_000_000)))
  client.send(frame(FRAME.windowUpdate, 0, 1, number(WINDOW)), frame(FRAME.ping, 0, 0, 'abcdefgh'))
  await client.until(({ type, flags }) => type === FRAME.ping && flags === FLAG.ack)
  expect(client.body(1).length).toBe(WINDOW)
  client.send(settings([SETTING.initialWindowSize, 1_000_000]))
  await client.until(ends(1))
  expect(client.body(1).equals(LARGE)).toBe(true)
})

test('a window of one byte at a time still transfers a whole answer', async () => {
  const client = await RawHttp2.open(await largeApp(), false)
  client.send(
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    settings([SETTING.initialWindowSize, 1]),
    headers(1, path('/small')),
  )
  for (let bytes = 1; bytes < 'small'.length; bytes++) {
    await waitFor(
      () => client.body(1).length === bytes,
      () => `${client.body(1).length} bytes`,
    )
    client.send(frame(FRAME.windowUpdate, 0, 1, number(1)))
  }
  await client.until(ends(1))
  expect(client.body(1).toString()).toBe('small')
})

/** With a service behind it whose raw input is recorded. */
async function before(service: Promise<RawUpstream>) {
  const upstream = closing(await service)
  const client = await RawHttp2.open(await startStand(secureTable([upstream.spec])))
  return { upstream, client }
}

test('bodies in many small frames cause little work for their services', async () => {
  const service = RawUpstream.start((socket, _piece, all) => {
    // A head alone may end with a 0 too, from its request's id.
    if (!all.endsWith('\r\n0\r\n\r\n')) return false
    socket.write('HTTP/1.1 204 No Content\r\n\r\n')
    return true
  })
  const { upstream, client } = await before(service)
  const letters = Array.from({ length: 900 }, (_, index) => String.fromCharCode(97 + (index % 26)))
  const [odd, even] = [1, 3].map((id) => letters.map((letter) => data(id, letter)))
  const mixed = odd!.flatMap((frame, index) => [frame, even![index]!])
  client.send(headers(1, POST, false), headers(3, POST, false))
  // What comes while there is no connection yet waits in any case.
  await waitFor(
    () => upstream.requestLines.length === 2,
    () => upstream.received,
  )
  client.send(...mixed, data(1, '', true), data(3, '', true))
  expect(await client.outcome(1)).toBe('204')
  expect(await client.outcome(3)).toBe('204')
  const chunks = [...upstream.received.matchAll(/^([0-9a-f]+)\r\n([a-z]+)\r$/gm)]
  expect(chunks.map(([, , content]) => content).join('')).toHaveLength(1_800)
  expect(chunks.length).toBeLessThan(20)
})

test('urgent requests are answered first, and non-incremental ones share with none', async () => {
  const client = await RawHttp2.open(await largeApp())
  const streams = [
    [1, 'u=5'],
    [3, 'u=1'],
    [5, 'u=3, i'],
    [7, 'u=3, i=?1'],
  ] as const
  client.send(settings([SETTING.initialWindowSize, 10_000_000]))
  // All of them wait for the window of the connection.
  client.send(headers(9, path('/')))
  await waitFor(
    () => client.body(9).length === WINDOW,
    () => `${client.body(9).length} bytes`,
  )
  client.send(frame(FRAME.reset, 0, 9, number(ERROR.cancel)))
  client.send(...streams.map(([id, priority]) => headers(id + 10, path('/', ['priority', priority]))))
  await Promise.all(
    streams.map(([id]) => client.until((given) => given.id === id + 10 && given.type === FRAME.headers)),
  )
  // What the upstreams have sent meanwhile waits in order.
  client.send(frame(FRAME.priorityUpdate, 0, 0, Buffer.concat([number(11), Buffer.from('u=0')])))
  client.send(frame(FRAME.ping, 0, 0, 'abcdefgh'))
  await client.until(({ type, flags }) => type === FRAME.ping && flags === FLAG.ack)
  client.send(frame(FRAME.windowUpdate, 0, 0, number(10_000_000)))
  await Promise.all(streams.map(([id]) => client.until(ends(id + 10))))
  const first = [11, 13, 15, 17].map((id) =>
    client.frames.findIndex((given) => given.id === id && given.type === FRAME.data),
  )
  expect(first.toSorted((left, right) => left - right)).toEqual(first)
  const shared = client.frames.filter(({ type, id }) => type === FRAME.data && id > 13).map(({ id }) => id)
  expect(shared.slice(0, 4)).toEqual([15, 17, 15, 17])
})

test('a stream that is not read delays no other answer', async () => {
  const client = await RawHttp2.open(await largeApp())
  client.send(frame(FRAME.windowUpdate, 0, 0, number(10_000_000)), headers(1))
  await waitFor(
    () => client.body(1).length === WINDOW,
    () => `${client.body(1).length} bytes`,
  )
  for (let id = 3; id < 203; id += 2) client.send(headers(id, path('/small')))
  for (let id = 3; id < 203; id += 2) await client.until(ends(id))
  expect(client.body(201).toString()).toBe('small')
})

test('the window of the connection is returned for bodies that nobody reads', async () => {
  const app = closing(
    await RawUpstream.answering(
      'HTTP/1.1 413 Content Too Large',
      'Connection: close',
      'Content-Length: 0',
      '',
      '',
    ),
  )
  const client = await RawHttp2.open(await startStand(secureTable([app.spec])))
  const piece = Buffer.alloc(16_000)
  for (let id = 1; id < 61; id += 2) {
    client.send(headers(id, POST, false))
    for (let sent = 0; sent < 6; sent++) client.send(data(id, piece))
    expect(await client.outcome(id)).toBe('413')
  }
  const widened = client.frames
    .filter(({ type, id }) => type === FRAME.windowUpdate && id === 0)
    .reduce((sum, { content }) => sum + content.readUInt32BE(0), WINDOW)
  // 30 bodies of 96 KB are more than the connection accepts at once.
  expect(widened).toBeGreaterThan(30 * 6 * 16_000 - 1024 * 1024)
})

test('a WebSocket is a tunnel through a stream, next to other requests', async () => {
  const app = closing(
    await RawUpstream.start((socket, piece) => {
      if (!piece.startsWith('GET /socket')) return void socket.write(piece.toUpperCase())
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
          'Sec-WebSocket-Accept: x\r\nSec-WebSocket-Protocol: chat\r\n\r\nhello',
      )
    }),
  )
  const client = await RawHttp2.open(await startStand(secureTable([app.spec])))
  const asked = await client.until(({ type }) => type === FRAME.settings)
  expect(asked.content.toString('hex')).toContain('000800000001')
  const socket: Fields = [[':method', 'CONNECT'], [':protocol', 'websocket'], ...path('/socket').slice(1)]
  client.send(headers(1, [...socket, ['sec-websocket-version', '13']], false), data(1, 'early'))
  const { content } = await client.until(({ id, type }) => id === 1 && type === FRAME.headers)
  const fields = client.fieldsOf(content)
  expect([fields.get(':status'), fields.get('sec-websocket-protocol')]).toEqual(['200', 'chat'])
  expect([...fields.keys()]).not.toContain('sec-websocket-accept')
  client.send(data(1, 'later'))
  await waitFor(
    () => client.body(1).toString() === 'helloEARLYLATER',
    () => client.body(1).toString(),
  )
  expect(app.received).toMatch(/^GET \/socket HTTP\/1\.1\r\n/)
  expect(app.received).toMatch(/\r\nsec-websocket-key: \S{24}\r\n/)
  expect(app.received).toMatch(/\r\nupgrade: websocket\r\n/i)
  client.send(data(1, '', true))
  await waitFor(
    () => app.sockets.every((open) => open.readableEnded || open.destroyed),
    () => 'the upstream was not told of the end',
  )
})

test('HEADERS after a WebSocket has begun end it, and its upstream learns nothing', async () => {
  const app = closing(
    await RawUpstream.start((socket, piece) => {
      if (piece.startsWith('GET /socket'))
        socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n')
    }),
  )
  const client = await RawHttp2.open(await startStand(secureTable([app.spec])))
  const socket: Fields = [[':method', 'CONNECT'], [':protocol', 'websocket'], ...path('/socket').slice(1)]
  expect(await client.send(headers(1, socket, false)).outcome(1)).toBe('200')
  const head = app.received
  client.send(headers(1, [['x-name', 'a']]))
  const { content } = await client.until(({ id, type }) => id === 1 && type === FRAME.reset)
  expect(content.readUInt32BE(0)).toBe(ERROR.protocol)
  expect(app.received).toBe(head)
})

test('a WebSocket that its upstream refuses gets the answer', async () => {
  const app = await upstream((_incoming, response) => void response.writeHead(403).end('no'))
  const client = await RawHttp2.open(await startStand(secureTable([app.spec])))
  const socket: Fields = [[':method', 'CONNECT'], [':protocol', 'websocket'], ...path('/socket').slice(1)]
  client.send(headers(1, socket, false), data(1, 'early'))
  expect(await client.outcome(1)).toBe('403')
  await client.until(ends(1))
  expect(client.body(1).toString()).toBe('no')
  expect(await client.send(headers(3)).outcome(3)).toBe('403')
})

test('a success that is not an upgrade is not one to the client either', async () => {
  const app = await upstream((_incoming, response) => void response.end('a page'))
  const client = await RawHttp2.open(await startStand(secureTable([app.spec])))
  const socket: Fields = [[':method', 'CONNECT'], [':protocol', 'websocket'], ...path('/page').slice(1)]
  expect(await client.send(headers(1, socket, false)).outcome(1)).toBe('502')
  expect(client.body(1).length).toBe(0)
})

test('data that waits for an upstream costs its size, however many frames it came in', async () => {
  const bytes = 200_000
  const app = closing(
    await RawUpstream.start((socket, piece) => {
      if (piece.startsWith('GET /socket'))
        setTimeout(
          () =>
            socket.write(
              'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
            ),
          500,
        )
    }),
  )
  const stand = await startStand(secureTable([app.spec]))
  const client = await RawHttp2.open(stand)
  const socket: Fields = [[':method', 'CONNECT'], [':protocol', 'websocket'], ...path('/socket').slice(1)]
  const crumbs = Buffer.concat(Array.from({ length: bytes }, () => data(1, 'x')))
  client.send(headers(1, socket, false), crumbs)
  await waitFor(
    () => app.received.length >= bytes,
    () => `the upstream has ${app.received.length} bytes`,
  )
})

test('a long head ends its stream wherever it is cut into frames', async () => {
  const app = await upstream((incoming, response) => {
    if (incoming.url === '/large') return void response.end(LARGE)
    response.setHeader('x-long', 'x'.repeat(40_000))
    response.writeHead(204).end()
  })
  const client = await RawHttp2.open(await startStand(secureTable([app.spec])))
  client.send(
    settings([SETTING.initialWindowSize, 10_000_000]),
    frame(FRAME.windowUpdate, 0, 0, number(100_000_000)),
  )
  for (let id = 1; id < 120; id += 2) client.send(headers(id, path(id % 6 === 1 ? '/large' : '/long')))
  for (let id = 1; id < 120; id += 2)
    await client.until(
      (given) => given.id === id && given.type <= FRAME.headers && (given.flags & FLAG.endStream) !== 0,
    )
})

test('uploads that nobody reads leave the others what they return', async () => {
  let read = 0
  const app = closing(
    await RawUpstream.start((socket, piece, all) => {
      if (all.startsWith('POST /stuck')) socket.pause()
      else read += piece.length
    }),
  )
  const client = await RawHttp2.open(await startStand(secureTable([app.spec])))
  const post = (target: string): Fields => [[':method', 'POST'], ...path(target).slice(1)]
  const piece = Buffer.alloc(16_000)
  for (const id of [1, 3, 5]) {
    client.send(headers(id, post('/stuck'), false))
    for (let sent = 0; sent < 16; sent++) client.send(data(id, piece))
  }
  client.send(headers(7, post('/read'), false))
  for (let sent = 0; sent < 16; sent++) client.send(data(7, piece))
  await waitFor(
    () => read > 16 * 16_000,
    () => `${read} bytes`,
  )
  const given = client.frames.filter(({ type, id }) => type === FRAME.windowUpdate && id === 0)
  expect(given.length).toBeGreaterThan(1)
})

test('a host with another certificate is requested on a separate connection', async () => {
  const app = await upstream((_incoming, response) => void response.end('ok'))
  const table = secureTable([app.spec])
  const target = table.hosts[HOST]!
  const stand = await startStand({
    ...table,
    hosts: { ...table.hosts, 'a.other.test': target, 'plain.test': target },
    certificates: { ...table.certificates, 'a.other.test': certificate('wildcard') },
  })
  const client = await RawHttp2.open(stand)
  const at = (host: string): Fields => [...GET.slice(0, 3), [':authority', host]]
  expect(await client.send(headers(1, at('a.other.test'))).outcome(1)).toBe('421')
  expect(await client.send(headers(3, at('plain.test'))).outcome(3)).toBe('421')
  expect(await client.send(headers(5, at('nobody.test'))).outcome(5)).toBe('404')
  expect(await client.send(headers(7, at(HOST))).outcome(7)).toBe('200')
})

test('a worker that retires says so twice, and serves what came in between', async () => {
  const app = await upstream((_incoming, response) => void response.end('ok'))
  const table = secureTable([app.spec])
  const stand = await startStand(table)
  const client = await RawHttp2.open(stand)
  expect(await client.send(headers(1)).outcome(1)).toBe('200')
  const listeners = [...table.listeners, { address: '127.0.0.3:0', protocol: 'http' as const }]
  await stand.client.applyTable({ ...table, version: 2, listeners })
  const notice = await client.until(({ type }) => type === FRAME.goAway)
  expect([notice.content.readUInt32BE(0), notice.content.readUInt32BE(4)]).toEqual([2 ** 31 - 1, ERROR.none])
  expect(await client.send(headers(3)).outcome(3)).toBe('200')
  await client.until(({ type, content }) => type === FRAME.goAway && content.readUInt32BE(0) === 3)
  await client.end()
})

/** A request whose answer does not come. */
const WAITING: Fields = [[':method', 'POST'], ...path('/wait').slice(1)]

/** What a client may not do for long. */
const FLOODS: readonly (readonly [what: string, frames: (turn: number) => Buffer])[] = [
  ['PING', () => frame(FRAME.ping, 0, 0, 'abcdefgh')],
  ['SETTINGS', () => settings()],
  ['acknowledgements of SETTINGS', () => frame(FRAME.settings, FLAG.ack, 0)],
  ['acknowledgements of PING', () => frame(FRAME.ping, FLAG.ack, 0, 'abcdefgh')],
  ['GOAWAY', (turn) => (turn === 0 ? headers(1, path('/wait')) : frame(FRAME.goAway, 0, 0, Buffer.alloc(8)))],
  [
    'PRIORITY_UPDATE',
    () => frame(FRAME.priorityUpdate, 0, 0, Buffer.concat([number(1), Buffer.from('u=1')])),
  ],
  [
    'HEADERS of a stream that was reset',
    (turn) => (turn === 0 ? headers(1, [[':method', 'GET']]) : headers(1)),
  ],
  ['PRIORITY', () => frame(FRAME.priority, 0, 1, Buffer.alloc(5))],
  ['unknown frames', () => frame(0x42, 0, 0)],
  ['tiny WINDOW_UPDATE', () => frame(FRAME.windowUpdate, 0, 0, number(1))],
  ['empty DATA', (turn) => (turn === 0 ? headers(1, WAITING, false) : data(1, ''))],
  [
    'DATA with only padding',
    (turn) => (turn === 0 ? headers(1, WAITING, false) : frame(FRAME.data, 8, 1, '\x03\0\0\0')),
  ],
  [
    'requests of another length than they say, which the server resets',
    (turn) => {
      const id = turn * 2 + 1
      return Buffer.concat([headers(id, [...POST, ['content-length', '1']], false), data(id, 'xx')])
    },
  ],
  ['requests that are malformed', (turn) => headers(turn * 2 + 1, [[':method', 'GET']])],
  ['DATA of streams that have ended', (turn) => (turn === 0 ? headers(1) : data(1, 'x'))],
  [
    'canceled requests',
    (turn) => Buffer.concat([headers(turn * 2 + 1), frame(FRAME.reset, 0, turn * 2 + 1, number(8))]),
  ],
]

test.each(FLOODS)('endless %s end the connection', async (_what, frames) => {
  const app = await upstream((incoming, response) => {
    if (incoming.url !== '/wait') response.end('ok')
  })
  const client = await RawHttp2.open(await startStand(secureTable([app.spec])))
  for (let turn = 0; turn < 20_000 && !client.ended; turn++) {
    client.send(frames(turn))
    if (turn % 500 === 0) await new Promise(setImmediate)
  }
  const { content } = await client.until(({ type }) => type === FRAME.goAway)
  expect(content.readUInt32BE(4)).toBe(ERROR.enhanceYourCalm)
  await client.end()
})

test('a client that sends requests and does not read is read no further', async () => {
  const app = await upstream((_incoming, response) => {
    response.setHeader('x-long', 'x'.repeat(8_000))
    response.end()
  })
  const stand = await startStand(secureTable([app.spec]))
  const client = await RawHttp2.open(stand)
  client.pause()
  const answered = async () => (await stand.client.counts()).targets['srv-app']?.status_2xx ?? 0
  let sent = 0
  let seen = 0
  while (seen === sent) {
    expect(sent).toBeLessThan(6_000)
    for (const end = sent + 100; sent < end; sent++) client.send(headers(sent * 2 + 1))
    for (let looks = 0; looks < 10 && (seen = await answered()) < sent; looks++) await sleep(100)
  }
  client.resume()
  await client.until(({ id, flags }) => id === sent * 2 - 1 && (flags & FLAG.endStream) !== 0)
})

test('more streams than allowed are refused, and may be requested again', async () => {
  const waiting: (() => void)[] = []
  const app = await upstream((incoming, response) => {
    if (incoming.url === '/small') response.end('at once')
    else waiting.push(() => response.end('late'))
  })
  const stand = await startStand(secureTable([app.spec]))
  const client = await RawHttp2.open(stand)
  for (let id = 1; id <= 259; id += 2) client.send(headers(id))
  expect(await client.outcome(257)).toBe(`reset ${ERROR.refusedStream}`)
  expect(await client.outcome(259)).toBe(`reset ${ERROR.refusedStream}`)
  await waitFor(
    () => waiting.length === 128,
    () => `${waiting.length} requests`,
  )
  for (const finish of waiting) finish()
  await client.until(ends(255))
  expect(await client.send(headers(261, path('/small'))).outcome(261)).toBe('200')
})

test('a TCP connection without TLS gets no HTTP/2', async () => {
  const stand = await largeApp()
  const { port } = stand.client.bound.find(({ host }) => host === '127.0.0.1')!
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  expect(bytes.toString('latin1')).toMatch(/^HTTP\/1\.1 (400|505) /)
})

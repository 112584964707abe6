import { once } from 'node:events'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ERROR, FLAG, FRAME, SETTING } from '../../../proxy/http2/protocol.ts'
import { secureTable } from '../secure.ts'
import { HOST, ProxyStand, RawUpstream, waitFor } from '../stand.ts'
import {
  GET,
  RawHttp2,
  data,
  frame,
  headers,
  number,
  settings,
  type Fields,
  type Frame,
} from './raw-client.ts'

const SOCKET: Fields = [[':method', 'CONNECT'], [':protocol', 'websocket'], ...GET.slice(1)]
const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'

type Socket = RawUpstream['sockets'][number]

/** What the upstream does with what comes after it has accepted a WebSocket. */
let act: (socket: Socket, piece: string) => void = () => {}
let upstream: RawUpstream
let stand: ProxyStand
beforeAll(async () => {
  upstream = await RawUpstream.start((socket, piece) => {
    if (piece.startsWith('GET /refused'))
      socket.write('HTTP/1.1 403 Forbidden\r\nContent-Length: 8\r\n\r\nno entry')
    else if (piece.startsWith('GET ')) socket.write(`${SWITCH}last words`)
    else act(socket, piece)
  })
  stand = await ProxyStand.start(secureTable([upstream.spec]))
})
afterAll(async () => {
  await stand.stop()
  upstream.close()
})
beforeEach(() => {
  act = () => {}
})

const isReset = ({ type, id }: Frame) => type === FRAME.reset && id === 1
const isEnd = ({ type, id, flags }: Frame) =>
  type === FRAME.data && id === 1 && (flags & FLAG.endStream) !== 0

/** A tunnel that lets so many bytes come, and its upstream's end. */
async function open(window: number): Promise<{ client: RawHttp2; socket: Socket }> {
  const client = await RawHttp2.open(stand)
  client.send(settings([SETTING.initialWindowSize, window]), headers(1, SOCKET, false))
  expect(await client.outcome(1)).toBe('200')
  await waitFor(
    () => client.bytes(1) === Math.min(window, 'last words'.length),
    () => client.body(1).toString(),
  )
  return { client, socket: upstream.sockets.at(-1)! }
}

test.each([
  ['all of which was taken', 100],
  ['some of which waits', 4],
])('a WebSocket whose service resets ends with a reset after what it said, %s', async (_what, window) => {
  const { client, socket } = await open(window)
  socket.resetAndDestroy()
  await once(socket, 'close')
  if (window < 10) {
    await client.send(frame(FRAME.ping, 0, 0, 'abcdefgh')).until(({ type }) => type === FRAME.ping)
    expect(client.frames.some(isReset)).toBe(false)
    client.send(frame(FRAME.windowUpdate, 0, 1, number(100)))
  }
  const { content } = await client.until(isReset)
  expect(content.readUInt32BE(0)).toBe(ERROR.cancel)
  expect(client.body(1).toString()).toBe('last words')
  expect(client.frames.some(isEnd)).toBe(false)
  expect(await client.send(headers(3, SOCKET, false)).outcome(3)).toBe('200')
})

test('a WebSocket whose service ends it, and then resets, has ended normally', async () => {
  const { client, socket } = await open(100)
  socket.end()
  await client.until(isEnd)
  act = (socket) => socket.resetAndDestroy()
  client.send(data(1, 'still here'))
  await once(socket, 'close')
  // What cannot be sent shows that nobody reads.
  client.send(data(1, 'and still'))
  const { content } = await client.until(isReset)
  expect(content.readUInt32BE(0)).toBe(ERROR.none)
})

test('a WebSocket that its client resets is closed towards its service', async () => {
  const { client, socket } = await open(100)
  const closed = once(socket, 'close')
  client.send(data(1, 'a word'), frame(FRAME.reset, 0, 1, number(ERROR.cancel)))
  await closed
  expect(upstream.received).toMatch(/\r\n\r\na word$/)
})

test('data from a client that sends into a WebSocket and leaves at once reaches its service', async () => {
  const { client, socket } = await open(100)
  const closed = once(socket, 'close')
  client.send(data(1, 'a word'), data(1, ', the last')).close()
  await closed
  expect(upstream.received).toMatch(/\r\n\r\na word, the last$/)
})

test('data sent into a refused WebSocket is not a request, however slowly the answer is read', async () => {
  const client = await RawHttp2.open(stand)
  const refused = SOCKET.map(([name, value]) => [name, name === ':path' ? '/refused' : value] as const)
  client.send(settings([SETTING.initialWindowSize, 2]), headers(1, refused, false))
  client.send(data(1, `GET /smuggled HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`))
  expect(await client.outcome(1)).toBe('403')
  await waitFor(
    () => client.bytes(1) === 2,
    () => client.body(1).toString(),
  )
  client.send(frame(FRAME.windowUpdate, 0, 1, number(100)))
  const { content } = await client.until(isReset)
  expect([client.body(1).toString(), content.readUInt32BE(0)]).toEqual(['no entry', ERROR.none])
  expect(await client.send(headers(3, refused, false)).outcome(3)).toBe('403')
  expect(upstream.received).not.toContain('smuggled')
})

test('a client that ends its half of a WebSocket hears its service to the end', async () => {
  const { client, socket } = await open(100)
  socket.removeAllListeners('end').on('end', () => socket.write(' and more', () => socket.end('.')))
  client.send(data(1, 'that is all', true))
  await client.until(isEnd)
  expect(client.body(1).toString()).toBe('last words and more.')
  expect(client.frames.some(isReset)).toBe(false)
})

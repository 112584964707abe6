import { expect, test, vi } from 'vitest'
// First, since it has read buffers overwritten after use.
import { OwnRelay } from '../own-relay.ts'
import { GIVEN_BACK_BYTES } from '../../../proxy/http2/connection.ts'
import { HeaderDecoder, MAX_BLOCK_BYTES } from '../../../proxy/http2/decoder.ts'
import { fieldOf } from '../../../proxy/http2/field.ts'
import { readPriority } from '../../../proxy/http2/priority.ts'
import { RequestHeads } from '../../../proxy/http2/request-heads.ts'
import { ERROR, FLAG, FRAME } from '../../../proxy/http2/protocol.ts'
import { MAX_HEADS_BYTES, MAX_STREAMS } from '../../../proxy/http2/streams.ts'
import { precondition } from '../../../proxy/sites/conditions.ts'
import { secureTable } from '../secure.ts'
import { closing } from '../lifetimes.ts'
import { HOST, RawUpstream } from '../stand.ts'
import {
  GET,
  POST,
  RawHttp2,
  block,
  data,
  frame,
  headers,
  number,
  type Fields,
  type Frame,
} from './raw-client.ts'

/** Far more processor time than it should take, on any machine, and less than it takes without the bound. */
const MOST_CPU_MS = 4_000

/** Milliseconds for which the processor was busy with `work`, whatever else it did meanwhile. */
function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

test('a long name is checked once, however often a block repeats it with other values', () => {
  const name = 'a'.repeat(4_000)
  const inserted = Buffer.concat([Buffer.from([0x40]), block([[name, '']]).subarray(1)])
  // The newest name of the table, inserted again without a value.
  const repeats = Math.floor((MAX_BLOCK_BYTES - inserted.length) / 2)
  const whole = Buffer.concat([inserted, Buffer.alloc(2 * repeats, Buffer.from([0x7e, 0x00]))])
  const decoder = new HeaderDecoder()
  let fields = 0
  const cpuMs = cpuMsOf(() => {
    for (let turn = 0; turn < 80; turn++) decoder.decode(whole, 0, whole.length, () => void fields++)
  })
  expect(fields).toBe(80 * (1 + repeats))
  expect(cpuMs).toBeLessThan(MOST_CPU_MS)
})

test('a priority is read once per request, and one that is too long is not read', () => {
  const long = fieldOf('priority', `u=1${','.repeat(3_900)}`)
  const heads = new RequestHeads()
  const cpuMs = cpuMsOf(() => {
    for (let turn = 0; turn < 3_000; turn++) {
      heads.begin()
      for (const [name, value] of GET) heads.take(fieldOf(name, value))
      for (let time = 0; time < 15; time++) heads.take(long)
      expect(heads.make(false)!.priority).toEqual({ urgency: 3, incremental: false })
    }
  })
  expect(cpuMs).toBeLessThan(MOST_CPU_MS)
})

test.each([
  ['"a"', '"a"', 304],
  ['W/"a"', '"a"', 304],
  ['"a"', 'W/"a"', 304],
  ['"b", "a"', '"a"', 304],
  ['"b c" , W/"a"', '"a"', 304],
  ['"b","aa","a', '"a"', 200],
  ['b"a"', '"a"', 304],
  ['"b, a"', '"a"', 200],
  ['', '"a"', 200],
])('If-None-Match: %s matches a file with the tag %s: %i', (ifNoneMatch, etag, status) => {
  const others = { ifMatch: null, ifModifiedSince: null, ifUnmodifiedSince: null, ifRange: null, range: null }
  expect(precondition({ ...others, ifNoneMatch }, { etag, modifiedAt: 0 })).toBe(status)
})

test.each([
  ['u=1', 1, false],
  ['i', 3, true],
  ['u=0, i=?1', 0, true],
  ['i=?0,\tu=7', 7, false],
  ['u=5;a=b, i;c', 5, true],
  ['u=8', 3, false],
  ['u=-1, i=1', 3, false],
  ['u="1", x=2', 3, false],
])('the priority %s has urgency %i, incremental: %s', (value, urgency, incremental) => {
  expect(readPriority(value)).toEqual({ urgency, incremental })
})

test('requests that are answered as they are read use no more of the worker than may be open', async () => {
  const own = await OwnRelay.start(secureTable([]))
  const serve = vi.spyOn(own.relay, 'serve')
  const client = await RawHttp2.to(own.portOf('https'))
  const inserted = (name: string, value: string) =>
    Buffer.concat([Buffer.from([0x40]), block([[name, value]]).subarray(1)])
  const [scheme, path] = [Buffer.from([0x87]), Buffer.from([0x84])]
  const ENDS = FLAG.endHeaders | FLAG.endStream
  const first = [inserted(':method', 'HEAD'), scheme, path, inserted(':authority', 'nobody.test')]
  client.send(frame(FRAME.headers, ENDS, 1, Buffer.concat(first)))
  expect(await client.outcome(1)).toBe('404')
  const again = Buffer.concat([Buffer.from([0xbf]), scheme, path, Buffer.from([0xbe])])
  const last = 3 + 2 * 2_000
  const many = Array.from({ length: 2_000 }, (_, turn) => frame(FRAME.headers, ENDS, 3 + 2 * turn, again))
  client.send(...many, headers(last, GET))
  expect(await client.outcome(last)).toBe('502')
  expect(serve.mock.calls.length).toBeLessThanOrEqual(MAX_STREAMS)
})

/** A request for a tunnel: nothing of it is read before its upstream has answered, which it does not. */
const WAITING: Fields = [[':method', 'CONNECT'], [':protocol', 'websocket'], ...GET.slice(1)]
const PIECE = Buffer.alloc(16 * 1024)
const repeat = (times: number, bytes: Buffer) => Array.from({ length: times }, () => bytes)

async function silentWorker(): Promise<RawHttp2> {
  const upstream = closing(await RawUpstream.start(() => {}))
  const own = await OwnRelay.start(secureTable([upstream.spec]))
  return RawHttp2.to(own.portOf('https'))
}

test('a stream accepts 256 KiB ahead, and is reset for a byte more', async () => {
  const client = await silentWorker()
  client.send(headers(1, WAITING, false), ...repeat(16, data(1, PIECE)), data(1, 'x'))
  const { content } = await client.until(({ type, id }) => type === FRAME.reset && id === 1)
  expect(content.readUInt32BE(0)).toBe(ERROR.flowControl)
})

test('a connection accepts 1 MiB ahead for all its streams, and ends for a byte more', async () => {
  const client = await silentWorker()
  for (const id of [1, 3, 5, 7, 9]) client.send(headers(id, WAITING, false))
  for (const id of [1, 3, 5, 7]) client.send(...repeat(16, data(id, PIECE)))
  client.send(frame(FRAME.ping, 0, 0, 'abcdefgh'))
  await client.until(({ type }) => type === FRAME.ping)
  expect(client.send(data(9, 'x')) && (await client.outcome(9))).toBe(`goaway ${ERROR.flowControl}`)
})

const SHORT: Fields = [...POST, ['content-length', '1']]
/** So many bytes in one frame, including its padding. */
const FRAME_BYTES = 2_048
const PADDED = Buffer.concat([Buffer.from([200]), Buffer.alloc(FRAME_BYTES - 201, 'x'), Buffer.alloc(200)])
const plain = (id: number) => data(id, Buffer.alloc(FRAME_BYTES, 'x'))
const padded = (id: number) => frame(FRAME.data, FLAG.padded, id, PADDED)

/** DATA frames that are completely or partly useless; what is sent for it in one piece or several. */
const UNWANTED: readonly (readonly [what: string, frames: (id: number) => Buffer[]])[] = [
  [
    'that waits when its client ends the request',
    (id) => [headers(id, WAITING, false), plain(id), frame(FRAME.reset, 0, id, number(ERROR.cancel))],
  ],
  ['that is more than was announced', (id) => [headers(id, SHORT, false), plain(id)]],
  [
    'whose rest comes when its request has ended',
    (id) => [headers(id, SHORT, false), plain(id).subarray(0, 100), plain(id).subarray(100)],
  ],
  ['that is padded', (id) => [headers(id, POST, false), padded(id)]],
  ['that is padded, of a request that has ended', (id) => [headers(id, SHORT, false), padded(id)]],
  ['of a request that was refused', (id) => [headers(id, [[':method', 'GET']], false), plain(id)]],
  ['of a request to no one', (id) => [headers(id, [[':method', 'CONNECT'], GET.at(-1)!], false), plain(id)]],
]

test.each(UNWANTED)('the window of a connection gets back every byte of DATA %s', async (_what, frames) => {
  const client = await silentWorker()
  const isOfConnection = ({ type, id }: Frame) => type === FRAME.windowUpdate && id === 0
  await client.until(isOfConnection)
  for (let turn = 0; turn < GIVEN_BACK_BYTES / FRAME_BYTES; turn++)
    for (const part of frames(turn * 2 + 1)) client.send(part)
  const { content } = await client.until((given) => isOfConnection(given) && given !== client.frames[1])
  expect(content.readUInt32BE(0)).toBe(GIVEN_BACK_BYTES)
})

test('of endless interim answers a client gets a few', async () => {
  const interim = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'
  const upstream = closing(
    await RawUpstream.answering(`${interim.repeat(1_000)}HTTP/1.1 200 OK`, 'Content-Length: 0', '', ''),
  )
  const own = await OwnRelay.start(secureTable([upstream.spec]))
  const client = await RawHttp2.to(own.portOf('https'))
  client.send(headers(1))
  await client.until(({ id, flags }) => id === 1 && (flags & FLAG.endStream) !== 0)
  expect(client.frames.filter(({ type, id }) => type === FRAME.headers && id === 1)).toHaveLength(33)
})

test('the heads of requests under way are bounded, however few bytes they came in', async () => {
  const client = await silentWorker()
  // One field of a connection's table, repeated by its index: a head of 58 KiB in 100 bytes.
  const value = 'v'.repeat(3_900)
  const first = Buffer.concat([Buffer.from([0x40]), block([['x', value]]).subarray(1)])
  const repeated = Buffer.concat([block(GET), Buffer.alloc(15, 0xbe)])
  const ENDS = FLAG.endHeaders | FLAG.endStream
  client.send(frame(FRAME.headers, ENDS, 1, Buffer.concat([block(GET), first])))
  const ids = Array.from({ length: 30 }, (_, index) => 3 + 2 * index)
  client.send(
    ...ids.map((id) => frame(FRAME.headers, ENDS, id, repeated)),
    frame(FRAME.ping, 0, 0, 'abcdefgh'),
  )
  await client.until(({ type }) => type === FRAME.ping)
  const refused = client.frames.filter(({ type }) => type === FRAME.reset)
  expect(new Set(refused.map(({ content }) => content.readUInt32BE(0)))).toEqual(
    new Set([ERROR.refusedStream]),
  )
  const open = ids.length - refused.length
  expect(open).toBe(Math.floor(MAX_HEADS_BYTES / (15 * (value.length + 5))))
  // A finished request frees space.
  client.send(frame(FRAME.reset, 0, 3, number(ERROR.cancel)), frame(FRAME.headers, ENDS, 101, repeated))
  client.send(frame(FRAME.ping, 0, 0, 'ijklmnop'))
  await client.until(({ type, content }) => type === FRAME.ping && content.toString() === 'ijklmnop')
  expect(client.frames.some(({ type, id }) => type === FRAME.reset && id === 101)).toBe(false)
})

test.each([
  [1_000, '404'],
  [1_001, '431'],
])('a request of %i pairs is answered with %s', async (pairs, status) => {
  const own = await OwnRelay.start(secureTable([]))
  const client = await RawHttp2.to(own.portOf('https'))
  const crumbs = Array.from({ length: pairs - GET.length }, () => ['cookie', 'a'] as const)
  const fields = [
    ...GET.filter(([name]) => name !== ':authority'),
    [':authority', `not.${HOST}`] as const,
    ...crumbs,
  ]
  const whole = block(fields)
  client.send(frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, 1, whole))
  expect(await client.outcome(1)).toBe(status)
})

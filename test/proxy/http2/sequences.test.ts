import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  DEFAULT_WINDOW_BYTES,
  ERROR,
  FLAG,
  FRAME,
  MAX_WINDOW_BYTES,
  SETTING,
} from '../../../proxy/http2/protocol.ts'
import { secureTable } from '../secure.ts'
import { Witness } from '../smuggling/witness.ts'
import { HOST, ProxyStand } from '../stand.ts'
import { GET, POST, RawHttp2, block, data, frame, headers, number, settings } from './raw-client.ts'

let witness: Witness
let stand: ProxyStand
beforeAll(async () => {
  witness = await Witness.start()
  stand = await ProxyStand.start(secureTable([witness.spec]))
})
afterAll(async () => {
  await stand.stop()
  witness.close()
})
beforeEach(() => witness.forget())

const PING = 'abcdefgh'
const UNKNOWN_CODE = number(0xff)
const WHOLE = block(GET)
const [FIRST, SECOND, THIRD] = [WHOLE.subarray(0, 5), WHOLE.subarray(5, 20), WHOLE.subarray(20)]

function priority(id: number, on: number, weight: number, exclusive = false): Buffer {
  const content = Buffer.concat([number(exclusive ? on + 2 ** 31 : on), Buffer.from([weight])])
  return frame(FRAME.priority, 0, id, content)
}

/** A literal of HPACK: its first byte, and a name and a value in plain text. */
function literal(first: number, name: string, value: string): Buffer {
  const text = (text: string) => Buffer.concat([Buffer.from([text.length]), Buffer.from(text)])
  return Buffer.concat([Buffer.from([first]), text(name), text(value)])
}

/** `:method GET`, `:scheme https` and `:path /` by their index, then the host. */
const BY_INDEX = Buffer.concat([Buffer.from([0x82, 0x87, 0x84, 0x41, HOST.length]), Buffer.from(HOST)])
/** `www.example.com`, as RFC 7541 C.4.1 packs it. */
const PACKED = Buffer.from('8cf1e3c2e5f23a6ba0ab90f4ff', 'hex')
/** `custom-key`, as in C.4.3. */
const PACKED_NAME = Buffer.from('8825a849e95ba97d7f', 'hex')
const X_A = Buffer.from('x-a')
/** The result of a literal, its first byte, and the bytes by which its name is the static one of index 58. */
const LITERALS = [
  ['indexed', 0x40, Buffer.from([0x7a])],
  ['not indexed', 0x00, Buffer.from([0x0f, 0x2b])],
  ['never indexed', 0x10, Buffer.from([0x1f, 0x2b])],
] as const

function whole(id: number, ...parts: Buffer[]): Buffer {
  return frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, id, Buffer.concat(parts))
}

/** What a client may send, after or before stream 1 is requested; it is still served. */
const SERVED: readonly (readonly [what: string, ...frames: Buffer[]])[] = [
  ['PRIORITY of a stream that has not begun', priority(1, 0, 255), headers(1)],
  ['PRIORITY of a later stream', priority(5, 0, 15), headers(1)],
  ['PRIORITY of weight 1', headers(1, POST, false), priority(1, 0, 0), data(1, '', true)],
  ['PRIORITY of weight 256', headers(1, POST, false), priority(1, 0, 255), data(1, '', true)],
  ['PRIORITY that depends on another', priority(5, 3, 15), priority(1, 5, 15), headers(1)],
  ['PRIORITY that is exclusive', priority(1, 3, 15, true), headers(1)],
  ['PRIORITY after the end of the request', headers(1), priority(1, 0, 15)],
  ['WINDOW_UPDATE after the end of the request', headers(1), frame(FRAME.windowUpdate, 0, 1, number(1000))],
  ['WINDOW_UPDATE of the connection', frame(FRAME.windowUpdate, 0, 0, number(1000)), headers(1)],
  [
    'HEADERS with a priority',
    frame(FRAME.headers, 0x25, 1, Buffer.concat([number(0), Buffer.from([15]), WHOLE])),
  ],
  [
    'HEADERS with a priority and padding',
    frame(
      FRAME.headers,
      0x2d,
      1,
      Buffer.concat([Buffer.from([2]), number(0), Buffer.from([15]), WHOLE, Buffer.alloc(2)]),
    ),
  ],
  [
    'one CONTINUATION',
    frame(FRAME.headers, FLAG.endStream, 1, FIRST),
    frame(FRAME.continuation, FLAG.endHeaders, 1, Buffer.concat([SECOND, THIRD])),
  ],
  [
    'several CONTINUATION',
    frame(FRAME.headers, FLAG.endStream, 1, FIRST),
    frame(FRAME.continuation, 0, 1, SECOND),
    frame(FRAME.continuation, FLAG.endHeaders, 1, THIRD),
  ],
  [
    'as many CONTINUATION as may be',
    frame(FRAME.headers, FLAG.endStream, 1, FIRST),
    ...Array.from({ length: 14 }, () => frame(FRAME.continuation, 0, 1)),
    frame(FRAME.continuation, FLAG.endHeaders, 1, Buffer.concat([SECOND, THIRD])),
  ],
  ['several DATA', headers(1, POST, false), data(1, 'a'), data(1, 'b'), data(1, 'c', true)],
  ['DATA of 16 KiB', headers(1, POST, false), data(1, Buffer.alloc(16_384)), data(1, '', true)],
  ['an empty SETTINGS', settings(), headers(1)],
  ['an unknown setting', settings([0x99, 7]), headers(1)],
  [
    'windows that a setting would make too large, had their stream not ended',
    headers(1, POST, false),
    frame(FRAME.windowUpdate, 0, 1, number(MAX_WINDOW_BYTES - DEFAULT_WINDOW_BYTES)),
    frame(FRAME.reset, 0, 1, number(ERROR.cancel)),
    settings([SETTING.initialWindowSize, DEFAULT_WINDOW_BYTES + 1]),
    headers(3),
  ],
  [
    'an unknown code of RST_STREAM',
    headers(3),
    frame(FRAME.reset, 0, 3, UNKNOWN_CODE),
    headers(5),
    headers(7),
  ],
  ['an acknowledgement of PING', frame(FRAME.ping, FLAG.ack, 0, PING), headers(1)],
  [
    'a reserved bit of the stream',
    Buffer.from([...headers(1).subarray(0, 5), 0x80, ...headers(1).subarray(6)]),
  ],
  ['fields by index', whole(1, BY_INDEX)],
  ...LITERALS.flatMap(([kind, byte, named]) => [
    [`a literal that is ${kind}`, whole(1, BY_INDEX, literal(byte, 'x-a', 'b'))] as const,
    [`a packed value that is ${kind}`, whole(1, BY_INDEX, Buffer.from([byte, 3]), X_A, PACKED)] as const,
    [`a packed name that is ${kind}`, whole(1, BY_INDEX, Buffer.from([byte]), PACKED_NAME, PACKED)] as const,
    [`a value of a name by index that is ${kind}`, whole(1, BY_INDEX, named, Buffer.from([1, 98]))] as const,
    [`a packed value of a name by index that is ${kind}`, whole(1, BY_INDEX, named, PACKED)] as const,
  ]),
  [
    'an integer of as many bytes as any needs',
    whole(
      1,
      BY_INDEX,
      Buffer.from([0x00, 0x7f, 0x80, 0x80, 0x80, 0x00]),
      Buffer.from('a'.repeat(127)),
      Buffer.from([1, 98]),
    ),
  ],
  ['a change of the table', whole(1, Buffer.from([0x20]), BY_INDEX)],
  ['two changes of the table', whole(1, Buffer.from([0x20, 0x3f, 0xe1, 0x1f]), BY_INDEX)],
]

const SEQUENCES = SERVED.map(([what, ...frames]) => ({ what, frames }))

test.each(SEQUENCES)('with $what a request is served', async ({ frames }) => {
  const client = await RawHttp2.open(stand)
  client.send(...frames)
  // The last stream that was opened.
  const id = Math.max(...frames.filter((frame) => frame[3] === FRAME.headers).map((frame) => frame[8]!))
  expect(await client.outcome(id)).toBe('200')
  expect(await client.send(headers(id + 2)).outcome(id + 2)).toBe('200')
})

/** What may not be sent, and the consequence for stream 1, or for the connection. */
const REFUSED: readonly (readonly [what: string, told: string, ...frames: Buffer[]])[] = [
  ['HEADERS of over 16 KiB', 'goaway 6', frame(FRAME.headers, 5, 1, Buffer.alloc(16_385))],
  [
    'HEADERS of another stream within a header block',
    'goaway 1',
    frame(FRAME.headers, 1, 1, FIRST),
    headers(3),
  ],
  [
    'PRIORITY within a header block',
    'goaway 1',
    frame(FRAME.headers, 1, 1, FIRST),
    priority(1, 0, 15),
    frame(FRAME.continuation, FLAG.endHeaders, 1, Buffer.concat([SECOND, THIRD])),
  ],
  ['CONTINUATION of the connection', 'goaway 1', frame(FRAME.headers, 1, 1, FIRST), frame(9, 4, 0, SECOND)],
  ['CONTINUATION after a whole block', 'goaway 1', headers(1), frame(FRAME.continuation, 4, 1, WHOLE)],
  [
    'CONTINUATION after the last',
    'goaway 1',
    frame(FRAME.headers, 1, 1, FIRST),
    frame(FRAME.continuation, FLAG.endHeaders, 1, Buffer.concat([SECOND, THIRD])),
    frame(FRAME.continuation, FLAG.endHeaders, 1, WHOLE),
  ],
  [
    'CONTINUATION after DATA',
    'goaway 1',
    headers(1, POST, false),
    data(1, 'x'),
    frame(FRAME.continuation, FLAG.endHeaders, 1, WHOLE),
  ],
  [
    'DATA after RST_STREAM',
    'reset 5',
    headers(1, POST, false),
    frame(FRAME.reset, 0, 1, number(ERROR.cancel)),
    data(1, 'x'),
  ],
  [
    'CONTINUATION after RST_STREAM',
    'goaway 1',
    headers(1, POST, false),
    frame(FRAME.reset, 0, 1, number(ERROR.cancel)),
    frame(FRAME.continuation, FLAG.endHeaders, 1, WHOLE),
  ],
  [
    'a window widened by too much in two steps',
    'goaway 3',
    frame(FRAME.windowUpdate, 0, 0, number(2 ** 30)),
    frame(FRAME.windowUpdate, 0, 0, number(2 ** 30)),
  ],
  [
    'the window of a stream widened by too much in two steps',
    'reset 3',
    headers(1, POST, false),
    frame(FRAME.windowUpdate, 0, 1, number(2 ** 30)),
    frame(FRAME.windowUpdate, 0, 1, number(2 ** 30)),
  ],
  [
    'windows of open streams that a setting makes too large',
    'goaway 3',
    headers(1, POST, false),
    frame(FRAME.windowUpdate, 0, 1, number(2 ** 30)),
    settings([SETTING.initialWindowSize, 2 ** 30 + 2 ** 29 + 2 ** 29 - 1]),
  ],
  ['two schemes', 'reset 1', headers(1, [[':scheme', 'https'], ...GET])],
  [
    'a length that is not that of several DATA',
    'reset 1',
    headers(1, [...POST, ['content-length', '3']], false),
    data(1, 'ab'),
    data(1, 'cd', true),
  ],
  [
    'a literal whose name no table has',
    'goaway 9',
    frame(FRAME.headers, 5, 1, Buffer.from([0x7f, 0x40, 1, 97])),
  ],
]

const FAULTS = REFUSED.map(([what, told, ...frames]) => ({ what, told, frames }))

test.each(FAULTS)('$what leads to $told', async ({ told, frames }) => {
  const client = await RawHttp2.open(stand)
  client.send(...frames)
  const [type, code] = told.split(' ') as [string, string]
  const isReset = type === 'reset'
  await client.until(({ type, id, content }) =>
    isReset
      ? type === FRAME.reset && id === 1 && content.readUInt32BE(0) === Number(code)
      : type === FRAME.goAway && content.readUInt32BE(4) === Number(code),
  )
  if (isReset) expect(await client.send(headers(7)).outcome(7)).toBe('200')
  else await client.end()
})

test.each([
  ['DATA', 'reset 5', data(1, 'x')],
  ['HEADERS', 'goaway 5', headers(1)],
  ['CONTINUATION', 'goaway 1', frame(FRAME.continuation, FLAG.endHeaders, 1, WHOLE)],
])('%s of a stream that has been answered leads to %s', async (_what, told, after) => {
  const client = await RawHttp2.open(stand)
  client.send(headers(1))
  await client.until(
    ({ id, flags, type }) => id === 1 && type <= FRAME.headers && (flags & FLAG.endStream) !== 0,
  )
  client.send(after)
  const { type, content } = await client.until(({ type }) => type === FRAME.reset || type === FRAME.goAway)
  expect(
    type === FRAME.reset ? `reset ${content.readUInt32BE(0)}` : `goaway ${content.readUInt32BE(4)}`,
  ).toBe(told)
})

test('a PING is answered with its content, and SETTINGS are acknowledged', async () => {
  const client = await RawHttp2.open(stand)
  client.send(frame(FRAME.ping, 0, 0, PING))
  const pong = await client.until(({ type, flags }) => type === FRAME.ping && flags === FLAG.ack)
  expect(pong.content.toString()).toBe(PING)
  const acknowledgement = await client.until(
    ({ type, flags }) => type === FRAME.settings && flags === FLAG.ack,
  )
  expect(acknowledgement.content).toHaveLength(0)
  const first = client.frames[0]!
  expect([first.type, first.flags]).toEqual([FRAME.settings, 0])
})

test('the priority or the window of a stream that has been answered means nothing', async () => {
  const client = await RawHttp2.open(stand)
  client.send(headers(1))
  await client.until(
    ({ id, flags, type }) => id === 1 && type <= FRAME.headers && (flags & FLAG.endStream) !== 0,
  )
  client.send(priority(1, 0, 15), frame(FRAME.windowUpdate, 0, 1, number(1000)))
  client.send(frame(FRAME.reset, 0, 1, number(ERROR.cancel)))
  expect(await client.send(headers(3)).outcome(3)).toBe('200')
})

test('of a setting that is sent twice the last counts', async () => {
  const client = await RawHttp2.open(stand)
  client.send(settings([SETTING.initialWindowSize, 100], [SETTING.initialWindowSize, 1]), headers(1))
  expect(await client.outcome(1)).toBe('200')
  await client.until(({ type, id }) => type === FRAME.data && id === 1)
  expect(client.body(1)).toHaveLength(1)
})

test('a client that empties the table of fields, and restores it in the same SETTINGS, learns both sizes', async () => {
  const client = await RawHttp2.open(stand)
  client.send(settings([SETTING.headerTableSize, 0], [SETTING.headerTableSize, 4_096]), headers(1))
  const { content } = await client.until(({ type, id }) => type === FRAME.headers && id === 1)
  expect(content.subarray(0, 4).toString('hex')).toBe('203fe11f')
})

test('a client that says goodbye for an unknown reason is still answered', async () => {
  const client = await RawHttp2.open(stand)
  client.send(headers(1), frame(FRAME.goAway, 0, 0, Buffer.concat([number(0), UNKNOWN_CODE])))
  expect(await client.outcome(1)).toBe('200')
  await client.end()
})

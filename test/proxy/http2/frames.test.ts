import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { FLAG, FRAME, MAX_WINDOW_BYTES, SETTING } from '../../../proxy/http2/protocol.ts'
import { secureTable } from '../secure.ts'
import { Witness } from '../smuggling/witness.ts'
import { HOST, ProxyStand } from '../stand.ts'
import {
  GET,
  POST,
  RawHttp2,
  block,
  data,
  frame,
  headers,
  number,
  settings,
  type Fields,
} from './raw-client.ts'

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
const CUT = FRAME.headers
const WHOLE = block(GET)

type Fault = readonly [what: string, outcome: string, ...frames: Buffer[]]

/** What is wrong, the frames that a client sends after its preface, and what becomes of stream 1. */
const FAULTS: readonly Fault[] = [
  // RFC 9113 4.1, 4.2
  ['a frame of over 16 KiB', 'goaway 6', headers(1, POST, false), data(1, Buffer.alloc(16_385))],
  ['SETTINGS of over 16 KiB', 'goaway 6', frame(FRAME.settings, 0, 0, Buffer.alloc(16_386))],
  // 4.3, RFC 7541
  ['a field that no table has', 'goaway 9', frame(FRAME.headers, 5, 1, Buffer.from([0xff, 0x00]))],
  ['the index 0', 'goaway 9', frame(FRAME.headers, 5, 1, Buffer.from([0x80]))],
  ['an integer of too many bytes', 'goaway 9', frame(FRAME.headers, 5, 1, Buffer.alloc(9, 0xff))],
  [
    'an integer of more bytes than any needs',
    'goaway 9',
    frame(
      FRAME.headers,
      5,
      1,
      Buffer.concat([
        WHOLE,
        Buffer.from([0x00, 0x7f, 0x80, 0x80, 0x80, 0x80, 0x00]),
        block([['a'.repeat(127), 'b']]).subarray(3),
      ]),
    ),
  ],
  ['a string that is cut', 'goaway 9', frame(FRAME.headers, 5, 1, Buffer.from([0, 5, 97]))],
  [
    'a string of a bad code',
    'goaway 9',
    frame(FRAME.headers, 5, 1, Buffer.from([0, 0x84, 0xff, 0xff, 0xff, 0xff, 1, 97])),
  ],
  [
    'a string that is padded with zeros',
    'goaway 9',
    frame(FRAME.headers, 5, 1, Buffer.from([0, 0x81, 0x1c, 1, 97])),
  ],
  [
    'a string that is padded with a byte',
    'goaway 9',
    frame(FRAME.headers, 5, 1, Buffer.from([0, 0x82, 0x1f, 0xff, 1, 97])),
  ],
  ['a table larger than it may be', 'goaway 9', frame(FRAME.headers, 5, 1, Buffer.from([0x3f, 0xe2, 0x1f]))],
  [
    'a change of the table within a block',
    'goaway 9',
    frame(FRAME.headers, 5, 1, Buffer.concat([WHOLE, Buffer.from([0x20])])),
  ],
  // 5.1, 5.1.1
  ['DATA of no request', 'goaway 1', data(1, 'x')],
  ['WINDOW_UPDATE of no request', 'goaway 1', frame(FRAME.windowUpdate, 0, 1, number(1))],
  ['RST_STREAM of no request', 'goaway 1', frame(FRAME.reset, 0, 1, number(8))],
  ['CONTINUATION of no request', 'goaway 1', frame(FRAME.continuation, 4, 1, WHOLE)],
  ['a stream of even number', 'goaway 1', headers(2)],
  ['a stream older than the newest', 'goaway 5', headers(5), headers(3)],
  ['DATA after the end of the request', 'reset 5', headers(1), data(1, 'x')],
  ['HEADERS after the end of the request', 'reset 5', headers(1), headers(1)],
  [
    'HEADERS after RST_STREAM',
    'goaway 5',
    headers(1, POST, false),
    frame(FRAME.reset, 0, 1, number(8)),
    headers(1),
  ],
  // 6.1
  ['DATA of the connection', 'goaway 1', data(0, 'x')],
  [
    'DATA with more padding than content',
    'goaway 1',
    headers(1, POST, false),
    frame(FRAME.data, 8, 1, '\x05abcd'),
  ],
  [
    'padded DATA without the length of its padding',
    'goaway 6',
    headers(1, POST, false),
    frame(FRAME.data, 8, 1),
  ],
  // 6.2
  ['HEADERS of the connection', 'goaway 1', headers(0)],
  ['HEADERS with more padding than content', 'goaway 1', frame(FRAME.headers, 13, 1, '\xffab')],
  ['HEADERS too short for its priority', 'goaway 1', frame(FRAME.headers, 37, 1, 'abc')],
  [
    'HEADERS that depend on themselves',
    'reset 1',
    frame(FRAME.headers, 37, 1, Buffer.concat([number(1), Buffer.from([0]), WHOLE])),
  ],
  [
    'HEADERS that depend on themselves and continue',
    'reset 1',
    frame(FRAME.headers, 33, 1, Buffer.concat([number(1), Buffer.from([0]), WHOLE.subarray(0, 9)])),
    frame(FRAME.continuation, FLAG.endHeaders, 1, WHOLE.subarray(9)),
  ],
  // 6.3
  ['PRIORITY of no request that is cut', 'goaway 6', frame(FRAME.priority, 0, 1, Buffer.alloc(4))],
  ['PRIORITY of no request on itself', 'goaway 1', frame(FRAME.priority, 0, 1, Buffer.from([0, 0, 0, 1, 0]))],
  ['PRIORITY of the connection', 'goaway 1', frame(FRAME.priority, 0, 0, Buffer.alloc(5))],
  ['PRIORITY that is cut', 'reset 6', headers(1, POST, false), frame(FRAME.priority, 0, 1, Buffer.alloc(4))],
  [
    'PRIORITY on itself',
    'reset 1',
    headers(1, POST, false),
    frame(FRAME.priority, 0, 1, Buffer.from([0, 0, 0, 1, 0])),
  ],
  // 6.4
  ['RST_STREAM of the connection', 'goaway 1', frame(FRAME.reset, 0, 0, number(8))],
  ['RST_STREAM that is cut', 'goaway 6', headers(1, POST, false), frame(FRAME.reset, 0, 1, 'abc')],
  // 6.5
  ['SETTINGS of a stream', 'goaway 1', frame(FRAME.settings, 0, 1)],
  ['SETTINGS of a length that none has', 'goaway 6', frame(FRAME.settings, 0, 0, 'abcde')],
  ['an acknowledgement with content', 'goaway 6', frame(FRAME.settings, FLAG.ack, 0, Buffer.alloc(6))],
  ['a push that is neither on nor off', 'goaway 1', settings([SETTING.enablePush, 2])],
  [
    'a value that disables RFC 7540 priorities but is neither 0 nor 1',
    'goaway 1',
    settings([SETTING.noRfc7540Priorities, 2]),
  ],
  ['a window over 2^31-1', 'goaway 3', settings([SETTING.initialWindowSize, 2 ** 31])],
  ['frames of less than 16 KiB', 'goaway 1', settings([SETTING.maxFrameSize, 16_383])],
  ['frames of more than 2^24-1', 'goaway 1', settings([SETTING.maxFrameSize, 2 ** 24])],
  // 6.6
  ['PUSH_PROMISE', 'goaway 1', frame(FRAME.pushPromise, 4, 1, Buffer.concat([number(2), WHOLE]))],
  // 6.7, 6.8
  ['PING of a stream', 'goaway 1', frame(FRAME.ping, 0, 1, PING)],
  ['PING that is cut', 'goaway 6', frame(FRAME.ping, 0, 0, 'abcdefg')],
  ['GOAWAY of a stream', 'goaway 1', frame(FRAME.goAway, 0, 1, Buffer.alloc(8))],
  ['GOAWAY that is cut', 'goaway 6', frame(FRAME.goAway, 0, 0, Buffer.alloc(7))],
  // 6.9
  ['WINDOW_UPDATE that is cut', 'goaway 6', frame(FRAME.windowUpdate, 0, 0, 'abc')],
  ['WINDOW_UPDATE of the connection by nothing', 'goaway 1', frame(FRAME.windowUpdate, 0, 0, number(0))],
  [
    'WINDOW_UPDATE of a stream by zero',
    'reset 1',
    headers(1, POST, false),
    frame(FRAME.windowUpdate, 0, 1, number(0)),
  ],
  [
    'a window of the connection over 2^31-1',
    'goaway 3',
    frame(FRAME.windowUpdate, 0, 0, number(MAX_WINDOW_BYTES)),
  ],
  [
    'a window of a stream over 2^31-1',
    'reset 3',
    headers(1, POST, false),
    frame(FRAME.windowUpdate, 0, 1, number(MAX_WINDOW_BYTES)),
  ],
  // 6.10
  ['CONTINUATION of another stream', 'goaway 1', frame(CUT, 1, 1, WHOLE), frame(FRAME.continuation, 4, 3)],
  ['a frame amid a header block', 'goaway 1', frame(CUT, 1, 1, WHOLE), frame(FRAME.ping, 0, 0, PING)],
  ['DATA amid a header block', 'goaway 1', frame(CUT, 0, 1, WHOLE), data(1, 'x')],
  ['an unknown frame amid a header block', 'goaway 1', frame(CUT, 1, 1, WHOLE), frame(0x20, 0, 0)],
  [
    'a header block of too many frames',
    'goaway 11',
    frame(CUT, 1, 1, WHOLE),
    ...Array.from({ length: 16 }, () => frame(FRAME.continuation, 0, 1)),
  ],
  [
    'a header block of over 64 KiB',
    'goaway 11',
    frame(CUT, 1, 1, WHOLE),
    ...Array.from({ length: 5 }, () => frame(FRAME.continuation, 0, 1, Buffer.alloc(16_000))),
  ],
  // RFC 9218 7.1
  [
    'PRIORITY_UPDATE of a stream',
    'goaway 1',
    frame(FRAME.priorityUpdate, 0, 1, Buffer.concat([number(1), Buffer.from('u=1')])),
  ],
  ['PRIORITY_UPDATE of no stream', 'goaway 1', frame(FRAME.priorityUpdate, 0, 0, number(0))],
  ['PRIORITY_UPDATE that is cut', 'goaway 6', frame(FRAME.priorityUpdate, 0, 0, 'abc')],
  // 8.1.1
  [
    'less than its length',
    'reset 1',
    headers(1, [...POST, ['content-length', '5']], false),
    data(1, 'four', true),
  ],
  [
    'more than its length',
    'reset 1',
    headers(1, [...POST, ['content-length', '3']], false),
    data(1, 'four', true),
  ],
  ['a length without a body', 'reset 1', headers(1, [...POST, ['content-length', '3']])],
  [
    'trailers that do not end the stream',
    'reset 1',
    headers(1, POST, false),
    headers(1, [['a', 'b']], false),
  ],
  ['trailers with a pseudo field', 'reset 1', headers(1, POST, false), headers(1, [[':path', '/']])],
  ['trailers with a status', 'reset 1', headers(1, POST, false), headers(1, [[':status', '200']])],
  ['trailers with a bad name', 'reset 1', headers(1, POST, false), headers(1, [['X-A', 'b']])],
  [
    'trailers of over 1,000 pairs',
    'reset 1',
    headers(1, POST, false),
    headers(
      1,
      Array.from({ length: 1_001 }, () => ['a', 'b'] as const),
    ),
  ],
  ['trailers of over 8 KiB', '400', headers(1, POST, false), headers(1, [['a', 'b'.repeat(9_000)]])],
  // 8.5
  ['CONNECT with a scheme alone', 'reset 1', headers(1, [[':method', 'CONNECT'], GET[1]!, GET.at(-1)!])],
  [
    'CONNECT to an invalid target',
    'reset 1',
    headers(1, [
      [':method', 'CONNECT'],
      [':authority', 'app test'],
    ]),
  ],
  ['CONNECT with a body', '405', headers(1, [[':method', 'CONNECT'], GET.at(-1)!], false), data(1, 'body')],
  [
    'a WebSocket that ends as it begins',
    'reset 1',
    headers(1, [[':method', 'CONNECT'], [':protocol', 'websocket'], ...GET.slice(1)]),
  ],
]

const CASES = FAULTS.map(([what, outcome, ...frames]) => ({ what, outcome, frames }))

test.each(CASES)('$what is answered with $outcome', async ({ outcome, frames }) => {
  const client = await RawHttp2.open(stand)
  client.send(...frames)
  expect(await client.outcome(1)).toBe(outcome)
  if (outcome.startsWith('goaway')) await client.end()
  else expect(await client.send(headers(7)).outcome(7)).toBe('200')
})

const HEAD = (...more: Fields): Fields => [...GET, ...more]
const WITHOUT = (name: string): Fields => GET.filter(([given]) => given !== name)
const INSTEAD = (name: string, value: string): Fields =>
  GET.map(([given, kept]) => [given, given === name ? value : kept])

/** Values with which nothing is wrong. */
const FITTING: Record<string, string> = {
  cookie: 'a=b',
  host: HOST,
  'content-length': '0',
  priority: 'u=1',
  te: 'trailers',
}

/** Heads that are refused, and how. */
const REFUSED: readonly (readonly [what: string, outcome: string, fields: Fields])[] = [
  ['an upper case name', 'reset 1', HEAD(['X-Name', 'a'])],
  ['an empty name', 'reset 1', HEAD(['', 'a'])],
  ['a name with a space', 'reset 1', HEAD(['x name', 'a'])],
  ['a name with a colon', 'reset 1', HEAD(['x:name', 'a'])],
  ['a name with CRLF', 'reset 1', HEAD(['x\r\nhost', 'a'])],
  ...['\r', '\n', '\0', '\r\nGET / HTTP/1.1', '\x7f', '\x01'].flatMap((bad) => [
    [`${JSON.stringify(bad)} in a value`, 'reset 1', HEAD(['x-name', `a${bad}b`])] as const,
    [`${JSON.stringify(bad)} in the path`, 'reset 1', INSTEAD(':path', `/a${bad}b`)] as const,
    [`${JSON.stringify(bad)} in the method`, 'reset 1', INSTEAD(':method', `GET${bad}`)] as const,
    [`${JSON.stringify(bad)} in the authority`, 'reset 1', INSTEAD(':authority', `${HOST}${bad}`)] as const,
    [`${JSON.stringify(bad)} in a cookie`, 'reset 1', HEAD(['cookie', `a=${bad}b`])] as const,
  ]),
  ['a space before a value', 'reset 1', HEAD(['x-name', ' a'])],
  ['a tab before a value', 'reset 1', HEAD(['x-name', '\ta'])],
  ['a space after a value', 'reset 1', HEAD(['x-name', 'a '])],
  ['a tab after a value', 'reset 1', HEAD(['x-name', 'a\t'])],
  ['a value of a space', 'reset 1', HEAD(['x-name', ' '])],
  ['a space in the path', 'reset 1', INSTEAD(':path', '/a HTTP/1.1')],
  ['a space in the method', 'reset 1', INSTEAD(':method', 'GET /smuggled')],
  ['an empty path', 'reset 1', INSTEAD(':path', '')],
  ['a path without a slash', 'reset 1', INSTEAD(':path', 'smuggled')],
  ['an absolute path', 'reset 1', INSTEAD(':path', `https://${HOST}/`)],
  ['an asterisk that is not of OPTIONS', 'reset 1', INSTEAD(':path', '*')],
  ['no method', 'reset 1', WITHOUT(':method')],
  ['no path', 'reset 1', WITHOUT(':path')],
  ['no scheme', 'reset 1', WITHOUT(':scheme')],
  ['an unknown pseudo field', 'reset 1', [[':x', 'a'], ...GET]],
  ['a status in a request', 'reset 1', [[':status', '200'], ...GET]],
  ['a pseudo field after a field', 'reset 1', [['x-name', 'a'], ...GET]],
  ...['cookie', 'host', 'content-length', 'priority', 'te'].map(
    (name) => [`a pseudo field after ${name}`, 'reset 1', [[name, FITTING[name]!], ...GET]] as const,
  ),
  ['two methods', 'reset 1', [[':method', 'GET'], ...GET]],
  ['two paths', 'reset 1', [...GET, [':path', '/other']]],
  ['two authorities', 'reset 1', [...GET, [':authority', HOST]]],
  ['a protocol of no CONNECT', 'reset 1', [...GET, [':protocol', 'websocket']]],
  ['CONNECT with a path', 'reset 1', INSTEAD(':method', 'CONNECT')],
  ...['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'].map(
    (name) => [`the field ${name}`, 'reset 1', HEAD([name, 'close'])] as const,
  ),
  ['te that is not trailers', 'reset 1', HEAD(['te', 'gzip'])],
  ['no host', '400', WITHOUT(':authority')],
  ['two hosts', '400', HEAD(['host', HOST], ['host', HOST])],
  ['a host that is not the authority', '400', HEAD(['host', 'other.test'])],
  ['an authority with a user', '400', INSTEAD(':authority', `user@${HOST}`)],
  ['an authority with a path', '400', INSTEAD(':authority', `${HOST}/a`)],
  ['a length that is none', '400', [...POST, ['content-length', '+3']]],
  ['two lengths', '400', [...POST, ['content-length', '0'], ['content-length', '0']]],
  ['a list of lengths', '400', [...POST, ['content-length', '0, 0']]],
  ['TRACE', '405', INSTEAD(':method', 'TRACE')],
  ['a method that is too long', '501', INSTEAD(':method', 'A'.repeat(33))],
  ['a path that is too long', '414', INSTEAD(':path', `/${'a'.repeat(9_000)}`)],
  [
    'too many fields',
    '431',
    HEAD(...Array.from({ length: 101 }, (_, index) => [`x-${index}`, 'a'] as const)),
  ],
]

test.each(REFUSED)(
  'a request with %s is answered with %s, and reaches no upstream',
  async (_what, outcome, fields) => {
    const client = await RawHttp2.open(stand)
    client.send(headers(1, fields))
    expect(await client.outcome(1)).toBe(outcome)
    expect(witness.received).toBe('')
    expect(await client.send(headers(3)).outcome(3)).toBe('200')
  },
)

/** Requests that look odd, and how the upstream reads them. */
const SERVED: readonly (readonly [what: string, fields: Fields, read: string])[] = [
  ['te that is trailers', HEAD(['te', 'trailers']), 'GET /'],
  ['a host like the authority', HEAD(['host', HOST.toUpperCase()]), 'GET /'],
  ['a host instead of the authority', [...WITHOUT(':authority'), ['host', HOST]], 'GET /'],
  [
    'the asterisk of OPTIONS',
    INSTEAD(':path', '*').map(([name, value]) => [name, name === ':method' ? 'OPTIONS' : value]),
    'OPTIONS *',
  ],
  ['obs-text in a value', HEAD(['x-name', 'caf\xe9']), 'GET /'],
  ['an empty value', HEAD(['x-name', '']), 'GET /'],
  ['a trailing dot', INSTEAD(':authority', `${HOST}.`), 'GET /'],
]

test.each(SERVED)('a request with %s is served', async (_what, fields, read) => {
  const client = await RawHttp2.open(stand)
  expect(await client.send(headers(1, fields)).outcome(1)).toBe('200')
  expect(witness.read).toEqual([[read, '']])
})

test('bytes that an HTTP/1.1 parser could take for another request stay a body', async () => {
  const client = await RawHttp2.open(stand)
  const body = `0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`
  client.send(headers(1, POST, false), data(1, body.slice(0, 5)), data(1, body.slice(5), true))
  expect(await client.outcome(1)).toBe('200')
  expect(witness.read).toEqual([['POST /', body]])
})

test('padding is not part of a body, and unknown frames and flags mean nothing', async () => {
  const client = await RawHttp2.open(stand)
  client.send(
    frame(0x42, 0xff, 0, 'whatever'),
    frame(
      FRAME.headers,
      FLAG.endHeaders | FLAG.padded | 0x40,
      1,
      Buffer.concat([Buffer.from([3]), block(POST), Buffer.alloc(3)]),
    ),
    frame(FRAME.data, FLAG.padded, 1, '\x04body\0\0\0\0'),
    frame(FRAME.data, FLAG.padded | FLAG.endStream, 1, '\0 and soul'),
  )
  expect(await client.outcome(1)).toBe('200')
  expect(witness.read).toEqual([['POST /', 'body and soul']])
})

test('frames that come byte by byte mean the same as at once', async () => {
  const client = await RawHttp2.open(stand)
  const bytes = Buffer.concat([
    headers(1, POST, false),
    frame(FRAME.data, 8, 1, '\x02ab\0\0'),
    data(1, 'cd', true),
  ])
  for (const byte of bytes) {
    client.send(Buffer.from([byte]))
    await new Promise(setImmediate)
  }
  expect(await client.outcome(1)).toBe('200')
  expect(witness.read).toEqual([['POST /', 'abcd']])
})

test('a preface that is wrong in its last byte is not one', async () => {
  const client = await RawHttp2.open(stand, false)
  client.send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r ', settings(), headers(1))
  await client.end()
  expect(witness.received).toBe('')
})

test('without a preface there is no connection', async () => {
  const client = await RawHttp2.open(stand, false)
  client.send('GET / HTTP/1.1\r\nHost: app.test\r\n\r\n')
  await client.end()
  expect(witness.received).toBe('')
})

test('a connection whose first frame is not SETTINGS ends', async () => {
  const client = await RawHttp2.open(stand, false)
  client.send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', headers(1))
  expect(await client.outcome(1)).toBe('goaway 1')
})

import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { decodeHuffman } from '../../../proxy/http2/huffman.ts'
import { FLAG, FRAME, SETTING } from '../../../proxy/http2/protocol.ts'
import { GET, POST, RawHttp2, block, data, frame, headers, number, settings } from '../http2/raw-client.ts'
import { secureTable } from '../secure.ts'
import { Witness } from '../smuggling/witness.ts'
import { HOST, ProxyStand } from '../stand.ts'
import { piecesOf } from './agreement.ts'
import { FUZZ_TIMEOUT_MS, fuzz } from './fuzz.ts'

/** A slow machine takes longer than the time for so many. */
const FEWEST_CASES = 30
/** What is sent after a session. */
const LAST = 'the last'
const PATIENCE_MS = 100
/** The length of a text whose length fits in one byte, next to the bit that says that it is coded. */
const MAX_CODED_BYTES = 0x7f

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const GREETING = Buffer.concat([PREFACE, settings([SETTING.initialWindowSize, 70_000])])
const SMUGGLED = `0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`

/** Complete sessions. */
const SESSIONS = [
  [headers(1), headers(3), headers(5, POST, false), data(5, 'body', true)],
  [
    headers(1, [...POST, ['content-length', '10']], false),
    data(1, 'hello'),
    data(1, 'hello', true),
    headers(3),
  ],
  [
    frame(FRAME.headers, FLAG.endStream, 1, block(GET).subarray(0, 20)),
    frame(FRAME.continuation, FLAG.endHeaders, 1, block(GET).subarray(20)),
  ],
  [headers(1, POST, false), data(1, SMUGGLED), headers(1, [['x-trailer', 'a']])],
  [
    headers(1, POST, false),
    frame(FRAME.reset, 0, 1, number(8)),
    headers(3),
    frame(FRAME.goAway, 0, 0, Buffer.alloc(8)),
  ],
  [
    frame(FRAME.headers, 13, 1, Buffer.concat([Buffer.from([2]), block(GET), Buffer.alloc(2)])),
    frame(FRAME.ping, 0, 0, 'abcdefgh'),
  ],
  [headers(1, [...GET, ['priority', 'u=1, i'], ['cookie', 'a=b'], ['cookie', 'c=d'], ['te', 'trailers']])],
  [
    headers(1, POST, false),
    frame(FRAME.data, 8, 1, '\x02ab\0\0'),
    frame(FRAME.windowUpdate, 0, 1, number(9)),
    data(1, '', true),
  ],
  [
    frame(FRAME.headers, 37, 1, Buffer.concat([number(0), Buffer.from([15]), block(GET)])),
    settings([SETTING.headerTableSize, 0]),
  ],
  [
    headers(1, [[':method', 'CONNECT'], [':protocol', 'websocket'], ...GET.slice(1)], false),
    data(1, 'socket'),
  ],
].map((frames) => Buffer.concat(frames))

/** Sessions that are refused. */
const REFUSED = [
  headers(2),
  data(1, 'x'),
  frame(FRAME.headers, 0, 1, block(GET)),
  frame(FRAME.pushPromise, 4, 1),
]

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

/** Everything that a header block among these bytes could contain in Huffman's code (RFC 7541 5.2). */
function codedTexts(bytes: Buffer): Set<string> {
  const texts = new Set<string>()
  const output = Buffer.alloc(2 * MAX_CODED_BYTES)
  for (const [at, byte] of bytes.entries()) {
    const stop = at + 1 + (byte & MAX_CODED_BYTES)
    if (byte <= MAX_CODED_BYTES || stop > bytes.length) continue
    const length = decodeHuffman(bytes, at + 1, stop, output)
    if (length > 0) texts.add(output.toString('latin1', 0, length))
  }
  return texts
}

/** What is wrong with the result of a session; null for nothing. */
async function sessionFault(bytes: Buffer, cuts: readonly number[]): Promise<string | null> {
  witness.forget()
  const client = await RawHttp2.open(stand, false)
  client.send(GREETING)
  for (const piece of piecesOf(bytes, cuts)) client.send(piece)
  client.send(frame(FRAME.ping, 0, 0, LAST))
  await Promise.race([
    client.until(({ type, content }) => type === FRAME.ping && content.toString() === LAST).catch(() => {}),
    // It may have become the content of another frame.
    sleep(PATIENCE_MS),
  ])
  client.close()
  const other = await RawHttp2.open(stand)
  const outcome = await other.send(headers(1)).outcome(1)
  other.close()
  if (outcome !== '200') return `the next connection is answered with ${outcome}`
  if (witness.unread.length > 0)
    return `the upstream could not read what it was sent: ${witness.unread.join(', ')}`
  const texts = codedTexts(bytes)
  const strange = witness.otherMethods.find((method) => !bytes.includes(method) && !texts.has(method))
  if (strange !== undefined) return `the upstream read a method that was not sent: ${strange}`
  return stand.log.includes('a connection failed') ? stand.log : null
}

test(
  'whatever frames a client sends, no upstream gets anything but whole requests, and others are served',
  { timeout: FUZZ_TIMEOUT_MS },
  async () => {
    expect(await fuzz({ good: SESSIONS, bad: REFUSED }, FEWEST_CASES, sessionFault)).toBeGreaterThanOrEqual(
      FEWEST_CASES,
    )
  },
)

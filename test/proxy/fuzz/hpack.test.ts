import { once } from 'node:events'
import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import {
  array,
  assert,
  asyncProperty,
  constantFrom,
  integer,
  oneof,
  property,
  string,
  tuple,
} from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HeaderDecoder } from '../../../proxy/http2/decoder.ts'
import { HeaderEncoder, encoded } from '../../../proxy/http2/encoder.ts'
import type { Field } from '../../../proxy/http2/field.ts'
import { FrameReader } from '../../../proxy/http2/frame-reader.ts'
import { knownLine } from '../../../proxy/http2/known-lines.ts'
import { FLAG, FRAME } from '../../../proxy/http2/protocol.ts'
import { frame, settings } from '../http2/raw-client.ts'
import { SEED } from './fuzz.ts'

const RUNS = 300
/** Table sizes that peers may have, and change between. */
const SIZES = [0, 32, 100, 200, 4_096, 65_536]

const NAMES = [
  'x-a',
  'x-request-id',
  'cache-control',
  'content-type',
  'server',
  'vary',
  'date',
  'set-cookie',
  'etag',
  'x-very-long-name-of-a-field',
]
const VALUE = Array.from({ length: 224 }, (_, code) => String.fromCharCode(code + 32)).filter(
  (letter) => letter !== '\x7f',
)

const value = oneof(
  constantFrom(
    'a',
    'no-cache',
    'text/html; charset=utf-8',
    'Accept-Encoding',
    'x'.repeat(300),
    'y'.repeat(1_100),
  ),
  string({ unit: constantFrom(...VALUE), maxLength: 60 }).map((text) => text.trim()),
)
const fields = array(tuple(constantFrom(...NAMES), value), { maxLength: 12 })
const status = constantFrom('200', '204', '206', '304', '400', '404', '500', '201', '302', '503')

type Pairs = readonly (readonly [name: string, value: string])[]

/** Encodes an answer as the relay writes it. */
function encode(encoder: HeaderEncoder, code: string, pairs: Pairs): Buffer {
  const head = `HTTP/1.1 ${code} Whatever${pairs.map(([name, given]) => `\r\n${name.toUpperCase()}: ${given}`).join('')}`
  const bytes = Buffer.from(head, 'latin1')
  return Buffer.from(encoded.subarray(0, encoder.head(bytes, 0, bytes.length, Number(code), [])))
}

function decode(decoder: HeaderDecoder, block: Buffer): Pairs {
  const pairs: [string, string][] = []
  decoder.decode(block, 0, block.length, ({ name, value: given }: Field) => void pairs.push([name, given]))
  return pairs
}

/** The other end of a node client: reads its requests with our decoder, and answers with our encoder. */
class Peer {
  readonly asked: Pairs[] = []
  readonly encoder = new HeaderEncoder()
  answer: readonly [code: string, pairs: Pairs] = ['200', []]
  readonly #decoder = new HeaderDecoder()
  readonly #socket: Socket

  constructor(socket: Socket) {
    this.#socket = socket
    const none = () => {}
    const reader = new FrameReader({
      onFrame: (type, flags, id, bytes, start, end) => {
        if (type === FRAME.headers) this.#onRequest(id, flags, Buffer.from(bytes.subarray(start, end)))
        if (type === FRAME.settings && flags === 0) socket.write(frame(FRAME.settings, FLAG.ack, 0))
      },
      onDataBegin: none,
      onData: none,
      onDataEnd: none,
    })
    socket.on('error', none)
    socket.on('data', (bytes: Buffer) => reader.read(bytes, bytes.length))
    socket.write(settings())
  }

  #onRequest(id: number, flags: number, content: Buffer): void {
    this.asked.push(decode(this.#decoder, content.subarray((flags & FLAG.priority) === 0 ? 0 : 5)))
    const block = encode(this.encoder, ...this.answer)
    this.#socket.write(frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, id, block))
  }
}

let peer: Peer
let session: ClientHttp2Session
const server = createServer((socket) => (peer = new Peer(socket)))
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  await once(session, 'remoteSettings')
})
afterAll(() => {
  session.destroy()
  server.close()
})

async function exchange(asked: Pairs): Promise<IncomingHttpHeaders & { raw: string[] }> {
  const stream = session.request([':method', 'GET', ':path', '/', ...asked.flat()] as never, {
    endStream: true,
  })
  const [headers, , raw] = (await once(stream, 'response')) as [IncomingHttpHeaders, number, string[]]
  stream.resume()
  return { ...headers, raw }
}

test('node reads what the encoder writes, and the decoder what node writes, however the tables fill', async () => {
  // Node's client refuses to repeat others.
  const sent = array(tuple(constantFrom('x-a', 'x-b', 'x-very-long-name-of-a-field'), value), {
    maxLength: 12,
  })
  await assert(
    asyncProperty(sent, status, fields, async (asked, code, answered) => {
      peer.asked.length = 0
      peer.answer = [code, answered]
      const { raw } = await exchange(asked)
      const pairs = Array.from({ length: raw.length / 2 }, (_, index) => [raw[index * 2], raw[index * 2 + 1]])
      expect(pairs).toEqual([[':status', code], ...answered])
      expect(peer.asked[0]!.filter(([name]) => !name.startsWith(':'))).toEqual(asked)
    }),
    { seed: SEED, numRuns: RUNS },
  )
})

test('the decoder reads what the encoder writes, through every change of the size of the table', () => {
  const turns = array(tuple(status, fields, oneof(constantFrom(null), constantFrom(...SIZES))), {
    maxLength: 20,
  })
  assert(
    property(turns, (given) => {
      const encoder = new HeaderEncoder()
      const decoder = new HeaderDecoder()
      for (const [code, pairs, size] of given) {
        if (size !== null) encoder.resize(size)
        expect(decode(decoder, encode(encoder, code, pairs))).toEqual([[':status', code], ...pairs])
      }
    }),
    { seed: SEED, numRuns: RUNS },
  )
})

test('a repeated answer takes a few bytes', () => {
  const encoder = new HeaderEncoder()
  const pairs = NAMES.slice(2, 6).map((name) => [name, 'some value that stays'] as const)
  const first = encode(encoder, '200', pairs).length
  expect(encode(encoder, '200', pairs)).toHaveLength(1 + pairs.length)
  expect(first).toBeGreaterThan(4 * 20)
})

test('a line of a rare field, or one that differs each time, is in no table, nor remembered for others', () => {
  const encoder = new HeaderEncoder()
  for (const name of ['x-session', 'x-api-key', 'location', 'etag', 'link', 'content-security-policy']) {
    for (let time = 0; time < 3; time++) {
      const block = encode(encoder, '200', [[name, 'a=0123456789abcdef']])
      expect([name, block[1]! & 0xf0]).toEqual([name, 0x00])
      expect(block.includes('a=0123456789abcdef')).toBe(true)
    }
    const line = Buffer.from(`${name}: a=0123456789abcdef\r\n`)
    expect(knownLine(null, line, 0, line.length).length).toBe(name.length + 2)
  }
})

test('secrets are not in any table: every time they are literals that are never indexed', () => {
  const encoder = new HeaderEncoder()
  for (const name of ['authorization', 'cookie', 'proxy-authorization', 'set-cookie']) {
    for (let time = 0; time < 3; time++) {
      const block = encode(encoder, '200', [[name, 'a=0123456789abcdef']])
      expect([name, block[1]! & 0xf0]).toEqual([name, 0x10])
      expect(block.includes('a=0123456789abcdef')).toBe(true)
    }
  }
})

test('whatever bytes a block consists of, it is read or refused', () => {
  const bytes = array(integer({ min: 0, max: 255 }), { maxLength: 200 })
  assert(
    property(array(bytes, { maxLength: 5 }), (blocks) => {
      const decoder = new HeaderDecoder()
      try {
        for (const block of blocks) decode(decoder, Buffer.from(block))
      } catch (error) {
        expect((error as { code: number }).code).toBe(9)
      }
    }),
    { seed: SEED, numRuns: RUNS * 10 },
  )
})

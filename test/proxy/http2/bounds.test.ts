import { expect, test, vi } from 'vitest'
// First, as it has read buffers overwritten after use.
import { OwnRelay } from '../own-relay.ts'
import { HeaderDecoder, MAX_BLOCK_BYTES } from '../../../proxy/http2/decoder.ts'
import { FLAG, FRAME } from '../../../proxy/http2/protocol.ts'
import { MAX_STREAMS } from '../../../proxy/http2/streams.ts'
import { secureTable } from '../secure.ts'
import { GET, RawHttp2, block, frame, headers } from './raw-client.ts'

/** What a test takes for a hang. */
const HANG_MS = 8_000

test('a long name is judged once, however often a block repeats it with other values', () => {
  const name = 'a'.repeat(4_000)
  const inserted = Buffer.concat([Buffer.from([0x40]), block([[name, '']]).subarray(1)])
  // The newest name of the table, inserted again without a value.
  const repeats = Math.floor((MAX_BLOCK_BYTES - inserted.length) / 2)
  const whole = Buffer.concat([inserted, Buffer.alloc(2 * repeats, Buffer.from([0x7e, 0x00]))])
  const decoder = new HeaderDecoder()
  let fields = 0
  const began = performance.now()
  for (let turn = 0; turn < 150; turn++) decoder.decode(whole, 0, whole.length, () => void fields++)
  expect(performance.now() - began).toBeLessThan(HANG_MS)
  expect(fields).toBe(150 * (1 + repeats))
})

test('requests that are answered as they are read take no more of the worker than may be open', async () => {
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

import { expect, test } from 'vitest'
import { HeaderEncoder } from '../../proxy/http2/encoder.ts'
import { OutgoingFrames, type FramesHost } from '../../proxy/http2/outgoing-frames.ts'
import { OutgoingHeads } from '../../proxy/http2/outgoing-heads.ts'

const hint = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'
const goOn = 'HTTP/1.1 100 Continue\r\n\r\n'

/** How many of the heads of one request are sent to a client that reads, or is behind. */
function sent(heads: string, isBlocked = false): number {
  let blocks = 0
  const output = { isBlocked, turn: 0, headers: () => blocks++ }
  const host = { output, encoder: new HeaderEncoder(), window: 0, touch: () => {} } as unknown as FramesHost
  const outgoing = new OutgoingHeads(host, new OutgoingFrames(host))
  outgoing.begin(false)
  const bytes = Buffer.from(heads, 'latin1')
  outgoing.send(bytes, 0, bytes.length)
  return blocks
}

test('of interim answers a client gets a few, and always the 100 that it waits for, once', () => {
  expect(sent(hint.repeat(1_000))).toBe(32)
  expect(sent(hint.repeat(1_000) + goOn.repeat(2))).toBe(33)
  expect(sent(hint + goOn, true)).toBe(1)
})

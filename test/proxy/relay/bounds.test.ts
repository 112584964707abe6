import { onTestFinished, expect, test } from 'vitest'
// First, since it has read buffers overwritten after use.
import { OwnRelay } from '../own-relay.ts'
import { connectionTokens } from '../../../proxy/http1/field-values.ts'
import { Head } from '../../../proxy/http1/head.ts'
import { slab } from '../../../proxy/wire/slab.ts'
import { closing } from '../lifetimes.ts'
import { secureTable } from '../secure.ts'
import { HOST, RawUpstream, statusOf } from '../stand.ts'

/** Far more processor time than it should take, on any machine, and less than it takes without the bound. */
const MOST_CPU_MS = 4_000
const FIELD_BYTES = 60_000

test.each([
  ['nothing', ',', true],
  ['what is not taken out', 'host,', false],
  ['the same option', 'close,', false],
])('a Connection field that names %s thousands of times costs little', (_what, member, isRead) => {
  const field = Buffer.from(member.repeat(FIELD_BYTES / member.length))
  const head = new Head()
  const before = process.cpuUsage()
  for (let turn = 0; turn < 5_000; turn++) {
    head.reset()
    expect(connectionTokens(field, 0, field.length, head)).toBe(isRead)
  }
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1_000).toBeLessThan(MOST_CPU_MS)
})

test.each([
  [
    'short addresses',
    '1,'.repeat(20_000),
    /X-Forwarded-For: (?:1, ){500,512}127\.0\.0\.1\r\nX-Real-IP: 1\r\n/,
  ],
  ['one that is none', 'a'.repeat(40_000), /X-Forwarded-For: 127\.0\.0\.1\r\nX-Real-IP: 127\.0\.0\.1\r\n/],
])(
  'a chain of %s through a trusted proxy leaves the request intact, wherever its copy begins',
  async (_what, chain, expected) => {
    const upstream = closing(await RawUpstream.answering('HTTP/1.1 200 OK', 'Content-Length: 2', '', 'ok'))
    const own = await OwnRelay.start(secureTable([upstream.spec], { trusted_proxies: ['127.0.0.0/8'] }))
    const { at } = slab
    onTestFinished(() => void (slab.at = at))
    // Exactly as much space as its head seems to need.
    slab.at = slab.buffer.length - chain.length - 9_000
    const client = own.raw()
    client.request('GET / HTTP/1.1', `Host: ${HOST}`, 'X-Forwarded-Proto: https', `X-Forwarded-For: ${chain}`)
    expect(statusOf(await client.until('ok'))).toBe(200)
    expect(upstream.received).toMatch(expected)
    expect(upstream.received).toMatch(/\r\nX-Request-Id: \w{32}\r\n\r\n$/)
  },
)

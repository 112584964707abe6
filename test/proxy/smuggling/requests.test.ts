import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { closed } from '../apps.ts'
import { statusOf, type RawConnection } from '../stand.ts'
import { CHUNKED, SMUGGLED, get, post } from './cases.ts'
import { BROKEN, REFUSED, SERVED } from './corpus.ts'
import { watched } from './witness.ts'

/** Longer bytes are not sent one by one: they are about limits, which a size or two reaches as well. */
const DRIPPED_BYTES = 400
const ANSWER = /HTTP\/1\.1 \d{3} /g

const both = watched()

/** Waits for the end and returns everything that came. */
async function toTheEnd(client: RawConnection): Promise<string> {
  await closed(client)
  client.socket.end()
  return client.received
}

/** Sends byte by byte until the other end has enough. */
async function drip(client: RawConnection, bytes: string): Promise<void> {
  client.socket.setNoDelay()
  for (const byte of bytes) {
    if (client.ended) return
    if (client.socket.writable) client.send(byte)
    await setImmediate()
  }
}

test.each(REFUSED)(
  '%s is refused with %i, and nothing reaches the upstream',
  async (_what, status, bytes) => {
    const received = await toTheEnd(both.stand.raw().send(bytes, '', SMUGGLED))
    expect(statusOf(received)).toBe(status)
    expect(received).toContain('\r\nConnection: close\r\n')
    expect(received.match(ANSWER)).toHaveLength(1)
    expect(both.witness.received).toBe('')
  },
)

const DRIPPED = REFUSED.filter(([, , bytes]) => bytes.length <= DRIPPED_BYTES)

test.each(DRIPPED)('%s is refused with %i also when it comes byte by byte', async (_what, status, bytes) => {
  const client = both.stand.raw()
  await drip(client, bytes)
  expect(statusOf(await toTheEnd(client))).toBe(status)
  expect(both.witness.received).toBe('')
})

test.each(BROKEN)('a chunk with %s is 400 and the upstream never reads a request', async (_what, body) => {
  const received = await both.stand
    .raw()
    .send(post([CHUNKED], body))
    .end()
  expect(statusOf(received)).toBe(400)
  expect(received.match(ANSWER)).toHaveLength(1)
  expect(both.witness.read).toEqual([])
})

test.each(BROKEN)('a chunk with %s is 400 also when it comes byte by byte', async (_what, body) => {
  if (body.length > DRIPPED_BYTES) return
  const client = both.stand.raw().send(post([CHUNKED], ''))
  await drip(client, body)
  expect(statusOf(await toTheEnd(client))).toBe(400)
  expect(both.witness.read).toEqual([])
})

test.each(SERVED)(
  '$what is read by the upstream as it was meant',
  async ({ bytes, read, gone, kept, closes }) => {
    const client = both.stand.raw().send(bytes)
    if (!closes) client.send(get('Connection: close'))
    const received = await toTheEnd(client)
    const expected = closes ? read : [...read, ['GET /', ''] as const]
    expect(both.witness.read).toEqual(expected)
    expect(received.match(ANSWER)).toHaveLength(expected.length)
    const [first] = both.witness.received.split(
      /(?<=\r\n\r\n)(?=GET \/ HTTP\/1\.1\r\nHost: app\.test\r\nX-Forwarded-For)/,
    )
    if (gone) expect(first).not.toMatch(gone)
    if (kept) expect(first).toMatch(kept)
  },
)

test.each(SERVED)('$what is read the same when it comes byte by byte', async ({ bytes, read, closes }) => {
  if (bytes.length > DRIPPED_BYTES) return
  const client = both.stand.raw()
  await drip(client, bytes)
  if (closes) await toTheEnd(client)
  await expect.poll(() => both.witness.read).toEqual(read)
  client.close()
})

test('nothing of a head reaches the upstream before its last byte has come', async () => {
  const client = both.stand.raw()
  const bytes = get('X: y')
  client.send(bytes.slice(0, -1))
  await sleep(100)
  expect(both.witness.received).toBe('')
  client.send(bytes.slice(-1))
  await client.until('<read GET />')
  expect(both.witness.read).toHaveLength(1)
  client.close()
})

test.each([
  ['a length', post(['Content-Length: 10'], 'half')],
  ['chunks', post([CHUNKED], 'a\r\nhalf')],
  ['chunks between two', post([CHUNKED], '4\r\nhalf\r\n')],
  ['chunks before the last line', post([CHUNKED], '4\r\nhalf\r\n0\r\n')],
])('a body by %s that its client cuts is not a request for the upstream', async (_what, bytes) => {
  const client = both.stand.raw().send(bytes)
  await expect.poll(() => both.witness.received).toContain('half')
  client.socket.end()
  await toTheEnd(client)
  await sleep(20)
  expect(both.witness.read).toEqual([])
})

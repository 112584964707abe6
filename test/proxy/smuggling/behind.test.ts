import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ProxyStand, RawUpstream, statusOf, tableOf, waitFor } from '../stand.ts'
import { SMUGGLED, get } from './cases.ts'
import { REFUSED } from './corpus.ts'

const ANSWER = /HTTP\/1\.1 \d{3} /g
const BODY = 'the answer'
/** A moment in which what should not come would. */
const MOMENT_MS = 5

/** Answers when it is told to. */
let upstream: RawUpstream
let stand: ProxyStand

beforeAll(async () => {
  upstream = await RawUpstream.start(() => {})
  stand = await ProxyStand.start(tableOf([upstream.spec]))
})
afterAll(async () => {
  await stand.stop()
  upstream.close()
})

/** What a client gets that sends more while its request is under way, before the answer and altogether. */
async function behind(
  request: string,
  more: string,
): Promise<{ early: string; all: string; passed: string }> {
  const before = upstream.received.length
  const sockets = upstream.sockets.length
  const client = stand.raw().send(request)
  await waitFor(
    () => upstream.received.length > before,
    () => 'the upstream has no request',
  )
  client.send(more)
  await sleep(MOMENT_MS)
  const early = client.received
  const socket = upstream.sockets[sockets]
  socket?.write(`HTTP/1.1 200 OK\r\nContent-Length: ${BODY.length}\r\nConnection: close\r\n\r\n${BODY}`)
  const all = await client.end()
  return { early, all, passed: upstream.received.slice(before) }
}

test.each(REFUSED)(
  '%s behind a request under way waits for its answer and is refused with %i',
  async (_what, status, bytes) => {
    const { early, all, passed } = await behind(get(), bytes + SMUGGLED)
    expect(early).toBe('')
    expect(statusOf(all)).toBe(200)
    expect(all.match(ANSWER)).toHaveLength(2)
    expect(statusOf(all.slice(all.indexOf(BODY) + BODY.length))).toBe(status)
    expect(passed.match(/ HTTP\/1\.1\r\n/g)).toHaveLength(1)
  },
)

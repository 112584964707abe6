import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type ClientHttp2Session } from 'node:http2'
import { buffer } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { ask } from '../apps.ts'
import { closing, start } from '../lifetimes.ts'
import { HOST, HttpUpstream, type ProxyStand, statusOf, tableOf } from '../stand.ts'

const BUSY_MS = 300
/** More than the kernel accepts at once, so that what was written waits. */
const LARGE_MIB = 16
const LARGE = randomBytes(LARGE_MIB * 1024 * 1024)

/** A plain listener that speaks HTTP/2, with an app behind it that answers much, or what it was sent. */
async function plainStand(): Promise<ProxyStand> {
  const app = await HttpUpstream.start('app', (request, response) => {
    if (request.url === '/large') response.end(LARGE)
    else if (request.method === 'POST') request.pipe(response)
    else response.end('hello')
  })
  return start(tableOf([closing(app).spec], { h2c: true }))
}

async function dial(stand: ProxyStand): Promise<ClientHttp2Session> {
  const session = connect(`http://127.0.0.1:${stand.port}`, {
    settings: { initialWindowSize: 8 * 1024 * 1024 },
    maxSessionMemory: 4 * LARGE_MIB,
  })
  onTestFinished(() => session.destroy())
  await once(session, 'connect')
  session.setLocalWindowSize(32 * 1024 * 1024)
  return session
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

test('a client that begins with HTTP/2 gets it without TLS, others HTTP/1.1', async () => {
  const stand = await plainStand()
  const session = await dial(stand)
  const stream = session.request({ ':authority': HOST, ':path': '/' })
  const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
  expect(headers[':status']).toBe(200)
  expect((await buffer(stream)).toString()).toBe('hello')
  const upload = session.request({ ':authority': HOST, ':method': 'POST', ':path': '/' })
  upload.end(LARGE)
  expect(digest(await buffer(upload))).toBe(digest(LARGE))
  const answer = await ask(stand, '/')
  expect(statusOf(answer)).toBe(200)
  expect(answer).toMatch(/hello$/)
})

test('data that waits for a client that reads slowly does not change', async () => {
  const stand = await plainStand()
  const session = await dial(stand)
  const streams = [1, 2, 3].map(() => session.request({ ':authority': HOST, ':path': '/large' }))
  await Promise.all(streams.map((stream) => once(stream, 'response')))
  // Nothing is read meanwhile: this process has one thread.
  const until = performance.now() + BUSY_MS
  while (performance.now() < until);
  for (const body of await Promise.all(streams.map(buffer))) expect(digest(body)).toBe(digest(LARGE))
})

test('a connection that has ended is no longer counted', async () => {
  const stand = await plainStand()
  const session = await dial(stand)
  await buffer(session.request({ ':authority': HOST, ':path': '/' }))
  expect((await stand.client.counts()).open_connections).toBe(1)
  session.close()
  await expect.poll(async () => (await stand.client.counts()).open_connections).toBe(0)
})

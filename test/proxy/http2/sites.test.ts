import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get as getPlain, type ClientRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:http2'
import { get as getSecure } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { FLAG, FRAME, SETTING } from '../../../proxy/http2/protocol.ts'
import { start as startStand } from '../lifetimes.ts'
import { secureTable } from '../secure.ts'
import { HOST, type ProxyStand, targetOf, waitFor } from '../stand.ts'
import { GET, RawHttp2, frame, headers, number, settings, type Fields } from './raw-client.ts'

const KIB = 1024
/** About the sizes at which frames, pages and cached files are cut. */
const SIZES = [
  1,
  16 * KIB,
  16 * KIB + 1,
  32 * KIB,
  40_000,
  128 * KIB,
  128 * KIB + 1,
  300_000,
  1024 * KIB,
  1500 * KIB,
]
const WINDOW = 65_535
const PLENTY = 1_000_000_000

const folder = mkdtempSync(join(tmpdir(), 'deployer-http2-sites-'))
const files = new Map(SIZES.map((size) => [`/${size}.bin`, randomBytes(size)]))
mkdirSync(join(folder, 'files'))
for (const [path, content] of files) writeFileSync(join(folder, 'files', path), content)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A host without a certificate, at which plain requests are not redirected to TLS. */
const PLAIN_HOST = 'plain.test'

/** A site at two hosts. */
function site(h2c = false): Promise<ProxyStand> {
  const target = { ...targetOf([]), site: { folder, earlier: [] } }
  const hosts = { [HOST]: 'app', [PLAIN_HOST]: 'app' }
  return startStand(secureTable([], { targets: { app: target }, hosts, h2c }))
}

const path = (value: string, ...more: Fields): Fields => [
  ...GET.map(([name, given]) => [name, name === ':path' ? value : given] as const),
  ...more,
]

const isLastOf = (id: number) => (given: { id: number; flags: number; type: number }) =>
  given.id === id && given.type === FRAME.data && (given.flags & FLAG.endStream) !== 0

/** A client that lets everything come. */
async function open(stand: ProxyStand): Promise<RawHttp2> {
  const client = await RawHttp2.open(stand)
  return client.send(
    settings([SETTING.initialWindowSize, PLENTY]),
    frame(FRAME.windowUpdate, 0, 0, number(PLENTY)),
  )
}

/** Waits for the end of a stream, after which nothing of it may come. Returns what came. */
async function whole(client: RawHttp2, id: number): Promise<Buffer> {
  const last = await client.until(isLastOf(id))
  expect(client.frames.findLast((given) => given.id === id)).toBe(last)
  return client.body(id)
}

/** A file over HTTP/1.1. */
async function overPlain(stand: ProxyStand, path: string): Promise<Buffer> {
  return bodyOf(getPlain({ port: stand.port, path, headers: { host: PLAIN_HOST } }))
}

/** The same over TLS. */
async function overTls(stand: ProxyStand, path: string): Promise<Buffer> {
  const { host, port } = stand.client.bound.find(({ host }) => host === '127.0.0.2')!
  return bodyOf(
    getSecure({ host, port, path, servername: HOST, headers: { host: HOST }, rejectUnauthorized: false }),
  )
}

async function bodyOf(request: ClientRequest): Promise<Buffer> {
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  return buffer(answer)
}

test(
  'files of every size arrive completely, at several clients at once, each with many streams',
  { timeout: 30_000 },
  async () => {
    const stand = await site()
    for (let round = 0; round < 3; round++) {
      const clients = await Promise.all([open(stand), open(stand), open(stand)])
      for (const [index, name] of [...files.keys()].entries())
        for (const client of clients) client.send(headers(index * 2 + 1, path(name)))
      for (const [index, content] of [...files.values()].entries())
        for (const client of clients) expect((await whole(client, index * 2 + 1)).equals(content)).toBe(true)
      // What is sent with frames in between is the same to clients that do not know them.
      for (const [name, content] of files)
        for (const answer of await Promise.all([overPlain(stand, name), overTls(stand, name)]))
          expect(answer.equals(content)).toBe(true)
    }
  },
)

test(
  'windows that end within a frame, or are tiny, change nothing about a file',
  { timeout: 30_000 },
  async () => {
    const stand = await site()
    const sizes = [300_000, 1500 * KIB]
    for (const step of [50_001, 16 * KIB + 3, 5_000]) {
      const client = await RawHttp2.open(stand)
      client.send(
        settings([SETTING.initialWindowSize, step]),
        frame(FRAME.windowUpdate, 0, 0, number(PLENTY - WINDOW)),
      )
      for (const [index, size] of sizes.entries()) {
        const id = index * 2 + 1
        const content = files.get(`/${size}.bin`)!
        client.send(headers(id, path(`/${size}.bin`)))
        for (let given = step; given < size; given += step) {
          await waitFor(
            () => client.bytes(id) >= given,
            () => `${client.bytes(id)} of ${given} bytes`,
          )
          expect(client.bytes(id)).toBe(given)
          client.send(frame(FRAME.windowUpdate, 0, id, number(step)))
        }
        expect((await whole(client, id)).equals(content)).toBe(true)
      }
    }
  },
)

test('a range comes from within a file', async () => {
  const client = await open(await site())
  let id = -1
  for (const size of [300_000, 1500 * KIB]) {
    for (const [first, last] of [
      [0, size - 1],
      [1, size - 2],
      [20_000, 150_000],
      [128 * KIB, 256 * KIB - 1],
      [size - 1, size - 1],
    ] as const) {
      id += 2
      client.send(headers(id, path(`/${size}.bin`, ['range', `bytes=${first}-${last}`])))
      const content = files.get(`/${size}.bin`)!.subarray(first, last + 1)
      expect((await whole(client, id)).equals(content)).toBe(true)
    }
  }
})

/** The answer for a file of 300,000 bytes, by method and fields. */
const ASKED: readonly (readonly [
  method: string,
  more: Fields,
  status: string,
  told: object,
  bytes: number,
])[] = [
  ['HEAD', [], '200', { 'content-length': '300000', 'accept-ranges': 'bytes' }, 0],
  ['HEAD', [['range', 'bytes=0-1']], '200', { 'content-length': '300000' }, 0],
  ['GET', [['range', 'bytes=-2']], '206', { 'content-range': 'bytes 299998-299999/300000' }, 2],
  [
    'GET',
    [['range', 'bytes=300000-']],
    '416',
    { 'content-range': 'bytes */300000', 'content-length': '0' },
    0,
  ],
  ['GET', [['range', 'bytes=0-1,4-5']], '200', { 'content-length': '300000' }, 300_000],
  ['GET', [['if-none-match', '*']], '304', {}, 0],
  ['HEAD', [['if-none-match', '*']], '304', {}, 0],
  ['GET', [['if-match', '"other"']], '412', { 'content-length': '0' }, 0],
  ['POST', [], '405', { allow: 'GET, HEAD' }, -1],
]

test.each(ASKED)('%s of a file with %j is answered with %s', async (method, more, status, told, bytes) => {
  const client = await open(await site())
  client.send(headers(1, [[':method', method], ...path('/300000.bin', ...more).slice(1)]))
  const { content } = await client.until((given) => given.id === 1 && given.type === FRAME.headers)
  expect(Object.fromEntries(client.fieldsOf(content))).toMatchObject({ ':status': status, ...told })
  await client.until(
    ({ id, type, flags }) => id === 1 && type <= FRAME.headers && (flags & FLAG.endStream) !== 0,
  )
  if (bytes >= 0) expect(client.bytes(1)).toBe(bytes)
  // Nothing of it is left for the next.
  client.send(headers(3, path('/1.bin')))
  expect((await whole(client, 3)).equals(files.get('/1.bin')!)).toBe(true)
})

test('an urgent request gets a file first, and an incremental one shares', async () => {
  const stand = await site()
  const before = await open(stand)
  // Once it is in memory nobody waits for the disk, while which others continue.
  for (const id of [1, 3, 5]) {
    before.send(headers(id, path('/1048576.bin')))
    await whole(before, id)
  }
  const client = await RawHttp2.open(stand)
  client.send(settings([SETTING.initialWindowSize, PLENTY]))
  // More than have a page in memory at a time.
  const least = [1, 3, 5, 7, 9]
  const streams = [
    ...least.map((id) => [id, 'u=5'] as const),
    [11, 'u=1'],
    [13, 'u=3, i'],
    [15, 'u=3, i'],
  ] as const
  client.send(...streams.map(([id, priority]) => headers(id, path('/1048576.bin', ['priority', priority]))))
  await Promise.all(
    streams.map(([id]) => client.until((given) => given.id === id && given.type === FRAME.headers)),
  )
  client.send(frame(FRAME.windowUpdate, 0, 0, number(PLENTY)))
  for (const [id] of streams) expect((await whole(client, id)).equals(files.get('/1048576.bin')!)).toBe(true)
  const lastOf = (id: number) => client.frames.findIndex(isLastOf(id))
  expect(lastOf(11)).toBeLessThan(Math.min(lastOf(13), lastOf(15)))
  expect(Math.max(lastOf(13), lastOf(15))).toBeLessThan(Math.min(...least.map(lastOf)))
  const shared = client.frames.filter(({ type, id }) => type === FRAME.data && (id === 13 || id === 15))
  const turns = shared.filter(({ id }, index) => id !== shared[index - 1]?.id)
  expect(turns.length).toBeGreaterThan(8)
})

test('without TLS files arrive completely as well', { timeout: 30_000 }, async () => {
  const stand = await site(true)
  const session = connect(`http://127.0.0.1:${stand.port}`, {
    settings: { initialWindowSize: 8 * 1024 * KIB },
  })
  onTestFinished(() => session.destroy())
  await once(session, 'connect')
  session.setLocalWindowSize(32 * 1024 * KIB)
  for (let round = 0; round < 3; round++) {
    const asked = [...files.keys()].map((name) =>
      buffer(session.request({ ':authority': PLAIN_HOST, ':path': name })),
    )
    const answers = await Promise.all(asked)
    for (const [index, content] of [...files.values()].entries())
      expect(answers[index]!.equals(content)).toBe(true)
  }
})

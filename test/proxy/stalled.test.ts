import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect as connectPlain } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { afterAll, expect, onTestFinished, test } from 'vitest'
// First, since it has read buffers overwritten after use.
import { OwnRelay } from './own-relay.ts'
import { Backlog } from '../../proxy/http2/backlog.ts'
import { ERROR, FRAME, SETTING } from '../../proxy/http2/protocol.ts'
import { Content, SiteFile } from '../../proxy/sites/file.ts'
import { HELD_BUDGET_BYTES, Held, held, type Holder } from '../../proxy/wire/held.ts'
import { Page } from '../../proxy/wire/page.ts'
import { slab } from '../../proxy/wire/slab.ts'
import { GET, PREFACE, RawHttp2, frame, headers, number, settings, type Fields } from './http2/raw-client.ts'
import { closing, start } from './lifetimes.ts'
import { secureTable } from './secure.ts'
import { HOST, RawUpstream, targetOf, waitFor } from './stand.ts'

const MIB = 1024 * 1024
const PAGE_BYTES = 128 * 1024
/** Too large to be kept in memory. */
const FILE_BYTES = 20 * MIB
const PLENTY = 1_000_000_000

const folder = mkdtempSync(join(tmpdir(), 'deployer-stalled-'))
mkdirSync(join(folder, 'files'))
writeFileSync(join(folder, 'files/large.bin'), Buffer.alloc(FILE_BYTES, 'file'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const SITE = secureTable([], { targets: { app: { ...targetOf([]), site: { folder, earlier: [] } } } })
const LARGE: Fields = GET.map(([name, value]) => [name, name === ':path' ? '/large.bin' : value] as const)

/** What a client sends first that lets a stream send so many bytes, and its connection any number. */
function greeting(streamBytes: number): Buffer[] {
  const all = frame(FRAME.windowUpdate, 0, 0, number(PLENTY))
  return [settings([SETTING.initialWindowSize, streamBytes]), all]
}

const isReset = (id: number) => (given: { type: number; id: number }) =>
  given.type === FRAME.reset && given.id === id

/** Limits what this process holds while the test runs. */
function budget(bytes: number): void {
  held.budgetBytes = bytes
  onTestFinished(() => void (held.budgetBytes = HELD_BUDGET_BYTES))
}

/** Resolves when everything that was sent before was read. */
async function settled(client: RawHttp2): Promise<void> {
  const pongs = () => client.frames.filter(({ type }) => type === FRAME.ping).length
  const before = pongs()
  client.send(frame(FRAME.ping, 0, 0, 'abcdefgh'))
  await waitFor(
    () => pongs() > before,
    () => 'no answer to PING',
  )
}

test('beyond the budget, the clients that have waited longest are disconnected', async () => {
  const all = new Held(100)
  const ended: string[] = []
  const holder = (name: string): Holder => ({ heldBytes: 0, giveUp: () => void ended.push(name) })
  const [first, second, third] = ['first', 'second', 'third'].map(holder) as [Holder, Holder, Holder]
  all.set(first, 40)
  all.set(second, 40)
  all.set(first, 0)
  // It has read everything: it begins again, behind the other.
  all.set(first, 10)
  all.set(third, 60)
  await new Promise(setImmediate)
  expect(ended).toEqual(['second'])
  expect(all.bytes).toBe(70)
})

test('memory that a slow reader shares with others is held until it has read its own part', () => {
  const before = held.bytes
  const { buffer } = slab
  const pins = slab.pins.add()
  expect(held.bytes).toBe(before)
  slab.reserve(buffer.length + 1)
  expect(slab.buffer).not.toBe(buffer)
  expect(held.bytes - before).toBe(buffer.length)
  pins.leave()
  expect(held.bytes).toBe(before)
})

test('a file that is kept in memory anyway is held once, and when it is no longer kept', () => {
  const before = held.bytes
  const page = new Page(PAGE_BYTES, 'framed')
  const file = new SiteFile({ path: '', size: PAGE_BYTES, modifiedAt: 0, etag: '' }, () => {})
  const content = new Content('framed', [page], file)
  const backlogs = [new Backlog(), new Backlog()]
  for (const backlog of backlogs) backlog.add(page, 0, PAGE_BYTES)
  expect(held.bytes).toBe(before)
  content.dropped()
  expect(held.bytes - before).toBe(page.memory.length)
  for (const backlog of backlogs) backlog.clear()
  expect(held.bytes).toBe(before)
  expect(backlogs.map(({ bytes }) => bytes)).toEqual([0, 0])
})

test('no page of a file is in memory for a stream that has no room for it', async () => {
  const own = await OwnRelay.start(SITE)
  const client = await RawHttp2.to(own.portOf('https'))
  const ids = Array.from({ length: 100 }, (_, index) => index * 2 + 1)
  client.send(...greeting(0), ...ids.map((id) => headers(id, LARGE)))
  for (const id of ids) await client.until((given) => given.type === FRAME.headers && given.id === id)
  await settled(client)
  expect(held.bytes).toBe(0)
  // What fits comes, and nothing is kept for the rest.
  client.send(...ids.map((id) => frame(FRAME.windowUpdate, 0, id, number(50_000))))
  await waitFor(
    () => ids.every((id) => client.bytes(id) === 50_000),
    () => `${ids.filter((id) => client.bytes(id) === 50_000).length} have all`,
  )
  await settled(client)
  expect(held.bytes).toBe(0)
  client.send(frame(FRAME.windowUpdate, 0, 7, number(FILE_BYTES)))
  await waitFor(
    () => client.bytes(7) === FILE_BYTES,
    () => `${client.bytes(7)} bytes`,
  )
})

test('a connection that reads nothing costs a few pages, however many files it has requested', async () => {
  const own = await OwnRelay.start(SITE)
  const client = await RawHttp2.to(own.portOf('https'))
  const ids = Array.from({ length: 100 }, (_, index) => index * 2 + 1)
  client.send(...greeting(PLENTY))
  client.pause()
  client.send(...ids.map((id) => headers(id, LARGE)))
  await expect.poll(() => held.bytes).toBeGreaterThan(0)
  for (let before = -1; before !== held.bytes; await own.pass(1_000)) before = held.bytes
  expect(held.bytes).toBeLessThan(MIB)
  client.resume()
  await waitFor(
    () => client.bytes(ids.at(-1)!) > PAGE_BYTES,
    () => 'they do not go on',
  )
})

test('of unread streams, those that have waited longest are reset beyond the budget', async () => {
  budget(4 * MIB)
  const answer = Buffer.alloc(MIB, 'x')
  const upstream = closing(
    await RawUpstream.start((socket, piece) => {
      if (!piece.includes('\r\n\r\n')) return
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${answer.length}\r\n\r\n`)
      socket.write(answer)
    }),
  )
  const own = await OwnRelay.start(secureTable([upstream.spec]))
  const clients = await Promise.all([1, 2, 3].map(() => RawHttp2.to(own.portOf('https'))))
  for (const client of clients) {
    client.send(...greeting(1_000))
    for (let id = 1; id < 200; id += 2) {
      client.send(headers(id))
      await client.until((given) => given.id === id && given.type <= FRAME.headers)
    }
    await settled(client)
  }
  expect(held.bytes).toBeLessThanOrEqual(4 * MIB)
  const { content } = await clients[0]!.until(isReset(1))
  expect(content.readUInt32BE(0)).toBe(ERROR.enhanceYourCalm)
  // The connection continues, and with it the stream that has just begun to wait.
  const last = clients[2]!
  last.send(frame(FRAME.windowUpdate, 0, 199, number(answer.length)))
  await waitFor(
    () => last.bytes(199) === answer.length,
    () => `${last.bytes(199)} bytes`,
  )
})

test('an HTTP/1.1 reader that reads nothing is disconnected beyond the budget', async () => {
  budget(PLENTY)
  const own = await OwnRelay.start({ ...SITE, certificates: {} })
  const stall = () => {
    const socket = connectPlain(own.portOf('http'), '127.0.0.1').on('error', () => {})
    onTestFinished(() => void socket.destroy())
    socket.pause()
    socket.write(`GET /large.bin HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`)
  }
  for (let readers = 0; readers < 12; readers++) stall()
  await expect.poll(() => held.bytes).toBe(12 * PAGE_BYTES)
  held.budgetBytes = 4 * PAGE_BYTES
  stall()
  await expect.poll(() => own.relay.openConnections).toBe(4)
  expect(held.bytes).toBe(4 * PAGE_BYTES)
})

const NETWORKS = 200
const STREAMS = 100
/** What a stream uses that has a few bytes of its file, a connection with four pages, and a worker with all its code. */
const STREAM_BYTES = 10 * 1024
const CONNECTION_BYTES = 640 * 1024
const WORKER_BYTES = 128 * MIB

function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024
}

test.each([
  ['nothing', 0],
  ['a little of each', 1_000],
  ['all, which they do not read', PLENTY],
])(
  'memory is bounded before 20,000 streams of a large file, from 200 networks that take %s',
  { tags: ['slow'], timeout: 240_000 },
  async (_what, window) => {
    const listeners = [{ address: '0.0.0.0:0', protocol: 'https' as const }]
    const stand = await start({ ...SITE, listeners })
    const worker = (await stand.processes()).workers[0]!
    const sockets: TLSSocket[] = []
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()))
    let most = 0
    for (let network = 0; network < NETWORKS; network++) {
      const socket = connect({
        host: '198.18.0.1',
        port: stand.port,
        localAddress: `198.19.${network}.1`,
        servername: HOST,
        ALPNProtocols: ['h2'],
        rejectUnauthorized: false,
      } as ConnectionOptions).on('error', () => {})
      sockets.push(socket)
      await new Promise((resolve) => socket.once('secureConnect', resolve))
      if (window === PLENTY) socket.pause()
      else socket.resume()
      const asked = Array.from({ length: STREAMS }, (_, index) => headers(index * 2 + 1, LARGE))
      socket.write(Buffer.concat([Buffer.from(PREFACE), ...greeting(window), ...asked]))
      most = Math.max(most, residentBytes(worker))
    }
    const requests = async () => (await stand.client.counts()).open_requests
    for (let before = -1, now = 0; before !== now; now = await requests()) {
      before = now
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      most = Math.max(most, residentBytes(worker))
    }
    expect(await requests()).toBe(NETWORKS * STREAMS)
    expect(most).toBeLessThan(WORKER_BYTES + NETWORKS * (CONNECTION_BYTES + STREAMS * STREAM_BYTES))
    // Clients that read are served meanwhile.
    const reader = await RawHttp2.to(stand.port, true, '198.18.0.1')
    reader.send(...greeting(PLENTY), headers(1, LARGE))
    await waitFor(
      () => reader.bytes(1) === FILE_BYTES,
      () => `${reader.bytes(1)} bytes`,
    )
  },
)

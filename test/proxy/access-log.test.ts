import { once } from 'node:events'
import { connect, type ClientHttp2Session } from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
// First, since it has read buffers overwritten after use.
import { ADDRESS, HOST, HttpUpstream, tableOf, targetOf, waitFor } from './stand.ts'
import type { AccessLine, RouteTable, Target } from '../../proxy/protocol.ts'
import { AccessLog } from '../../proxy/relay/access-log.ts'
import { publish, stand } from './sites/site-stand.ts'

const PATIENCE_MS = 10_000
const LARGE = 'L'.repeat(300_000)

let app: HttpUpstream
let folder: string
/** The paths that it was asked for. */
const asked: string[] = []

beforeAll(async () => {
  app = await HttpUpstream.start('srv-app-1', (request, response) => {
    asked.push(request.url!)
    if (request.url === '/never') return
    if (request.url === '/breaks') {
      response.writeHead(200, { 'content-length': 10 })
      return void response.write('half', () => response.destroy())
    }
    request.resume()
    request.on('end', () => response.end('hello'))
  })
  app.server.on('upgrade', (_request, socket) => {
    socket.on('error', () => {})
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\nhi')
    socket.pipe(socket)
  })
  folder = publish({ 'index.html': 'home', 'large.bin': LARGE })
  await stand.client.applyTable(table(ADDRESS))
})
afterAll(() => app.close())
beforeEach(async () => void (await stand.client.accessLines()))

function table(address: string): RouteTable {
  const logged = (target: Target): Target => ({ ...target, edge: { access_log: true } })
  return tableOf([], {
    listeners: [{ address, protocol: 'http' }],
    hosts: { [HOST]: 'app', 'site.test': 'site', 'off.test': 'off', 'quiet.test': 'quiet' },
    targets: {
      app: logged(targetOf([app.spec])),
      site: logged({ ...targetOf([], 'serving', 'srv-site'), site: { folder, earlier: [] } }),
      off: logged(targetOf([], 'suspended', 'srv-off')),
      quiet: targetOf([app.spec], 'serving', 'srv-quiet'),
    },
    trusted_proxies: ['127.0.0.0/8'],
    h2c: true,
  })
}

/** The next lines, once there are so many: the service of each with the request. */
async function logged(count: number): Promise<[service: string, request: Record<string, unknown>][]> {
  const lines: AccessLine[] = []
  const deadline = performance.now() + PATIENCE_MS
  while (lines.length < count && performance.now() < deadline) {
    lines.push(...(await stand.client.accessLines()).lines)
    await sleep(5)
  }
  return lines.map(([service, at, ...request]) => {
    expect(Math.abs(Date.now() - at)).toBeLessThan(60_000)
    const [method, host, path, status, bytes, milliseconds, ip, userAgent, requestId, instance] = request
    expect(milliseconds).toBeGreaterThanOrEqual(0)
    return [service, { method, host, path, status, bytes, ip, userAgent, requestId, instance }]
  })
}

function get(host: string, path: string, ...more: string[]): Promise<string> {
  return stand
    .raw()
    .request(`GET ${path} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...more)
    .end()
}

test('a request is a line that says who asked what, what was answered, and by which instance', async () => {
  await get(
    `${HOST.toUpperCase()}:80`,
    '/a?b="1"',
    'User-Agent: tester/1',
    'X-Request-Id: mine.1',
    'X-Forwarded-For: 203.0.113.9, 198.51.100.7',
  )
  expect(await logged(1)).toEqual([
    [
      'srv-app',
      {
        method: 'GET',
        host: HOST,
        path: '/a?b="1"',
        status: 200,
        bytes: 5,
        ip: '198.51.100.7',
        userAgent: 'tester/1',
        requestId: 'mine.1',
        instance: 'srv-app-1',
      },
    ],
  ])
})

test('requests over HTTP/2 are lines, too', async () => {
  const session: ClientHttp2Session = connect(`http://127.0.0.1:${stand.port}`)
  onTestFinished(() => session.destroy())
  const post = session.request({ ':method': 'POST', ':path': '/form', ':authority': HOST })
  post.end('x'.repeat(100_000))
  await once(post.resume(), 'end')
  const file = session.request({ ':path': '/large.bin', ':authority': 'site.test' })
  await once(file.resume(), 'end')
  expect(await logged(2)).toMatchObject([
    ['srv-app', { method: 'POST', host: HOST, path: '/form', status: 200, bytes: 5, userAgent: null }],
    ['srv-site', { method: 'GET', path: '/large.bin', status: 200, bytes: LARGE.length, instance: null }],
  ])
})

test('answers of sites are lines: files, and what has no body', async () => {
  const head = await get('site.test', '/')
  const etag = /^etag: (.*)\r$/im.exec(head)![1]!
  await get('site.test', '/large.bin')
  await get('site.test', '/', `If-None-Match: ${etag}`)
  await get('site.test', '/none')
  expect(await logged(4)).toMatchObject([
    ['srv-site', { path: '/', status: 200, bytes: 'home'.length, instance: null }],
    ['srv-site', { path: '/large.bin', status: 200, bytes: LARGE.length }],
    ['srv-site', { path: '/', status: 304, bytes: 0 }],
    ['srv-site', { path: '/none', status: 404, bytes: expect.any(Number) }],
  ])
})

test('so is what the data plane answers for a service, and what nobody waited for', async () => {
  const page = await get('off.test', '/')
  const leaver = stand.raw().request('GET /never HTTP/1.1', `Host: ${HOST}`)
  await waitFor(
    () => asked.includes('/never'),
    () => 'the request did not arrive',
  )
  leaver.socket.resetAndDestroy()
  expect(await logged(2)).toMatchObject([
    ['srv-off', { status: 503, bytes: page.length - page.indexOf('\r\n\r\n') - 4, instance: null }],
    ['srv-app', { path: '/never', status: 499, bytes: 0, instance: 'srv-app-1' }],
  ])
})

test('an answer that broke off has the bytes that were sent', async () => {
  await stand.raw().request('GET /breaks HTTP/1.1', `Host: ${HOST}`).end()
  expect(await logged(1)).toMatchObject([['srv-app', { status: 200, bytes: 'half'.length }]])
})

test('a WebSocket is a line when it ends', async () => {
  const socket = stand.raw()
  socket.request('GET /ws HTTP/1.1', `Host: ${HOST}`, 'Upgrade: websocket', 'Connection: upgrade')
  await socket.until('\r\n\r\nhi')
  socket.send('echo')
  await socket.until('hiecho')
  expect((await stand.client.accessLines()).lines).toEqual([])
  socket.close()
  expect(await logged(1)).toMatchObject([
    ['srv-app', { path: '/ws', status: 101, bytes: 'hiecho'.length, instance: 'srv-app-1' }],
  ])
})

test('a service that does not ask for it has no lines, nor has what reached no service', async () => {
  await get('quiet.test', '/')
  await get('nobody.test', '/')
  await get(HOST, '/after')
  expect(await logged(1)).toMatchObject([['srv-app', { path: '/after' }]])
})

test('what clients choose is cut, and written in printable characters', async () => {
  await get(HOST, `/${'p'.repeat(5_000)}`, `User-Agent: ${'a'.repeat(5_000)}`)
  await get(HOST, '/\x9b2J', 'User-Agent: tab\tand \xe9')
  const [long, odd] = (await logged(2)).map(([, request]) => request)
  expect([String(long!.path).length, String(long!.userAgent).length]).toEqual([2_048 + 3, 512 + 3])
  expect([odd!.path, odd!.userAgent]).toEqual(['/\\x9B2J', 'tab\\x09and \\xE9'])
})

test('the lines of a worker that is replaced are not lost', async () => {
  await get(HOST, '/last')
  const { port } = stand
  await stand.client.applyTable(table('127.0.0.2:0'))
  const refused = async () => {
    const probe = stand.raw(port)
    await waitFor(
      () => probe.ended || probe.socket.readyState === 'open',
      () => 'neither refused nor accepted',
    )
    probe.close()
    return probe.failed !== null
  }
  while (!(await refused())) await sleep(5)
  expect(await logged(1)).toMatchObject([['srv-app', { path: '/last', status: 200 }]])
})

test('lines that find no room are counted, and those before them are kept', () => {
  const log = new AccessLog()
  const path = `/${'x'.repeat(999)}`
  const line = (at: number): AccessLine => [
    ...(['srv-app', at, 'GET', HOST, path, 200, 0, 1, '127.0.0.1', null, 'id', null] as const),
  ]
  const added = 8_000
  for (let index = 0; index < added; index++) log.add(line(index))
  const taken: AccessLine[] = []
  for (let more = true; more;) {
    const answer = log.take()
    taken.push(...answer.lines)
    expect(answer.lost).toEqual(answer.more ? {} : { 'srv-app': added - taken.length })
    more = answer.more
  }
  expect(taken.length).toBeGreaterThan(6_000)
  expect(taken.length).toBeLessThan(added)
  expect(taken.map(([, at]) => at)).toEqual(Array.from({ length: taken.length }, (_, index) => index))
  expect(log.isEmpty).toBe(true)
  log.add(line(added))
  expect(log.take()).toEqual({ lines: [line(added)], lost: {}, more: false })
})

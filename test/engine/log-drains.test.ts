import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LogDrainDelivery } from '#server/log-drains/schema.ts'
import { findProgram } from '../stand/packages.ts'
import { databaseOf } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { containersOf, docker, endOf } from './live.ts'

let server: TestServer
let instance: string
let receiver: Server
let base: string
let status = 200
/** The path of each request. */
const asked: string[] = []
const received: { path: string; headers: IncomingMessage['headers']; body: string }[] = []
let directory: string
let syslog: ChildProcess
let syslogPort: number

beforeAll(async () => {
  receiver = createServer((request, response) => {
    void text(request).then((body) => {
      asked.push(request.url!)
      const isLarge = request.url === '/small' && body.split('\n').length > 8
      if (request.url === '/never') return response.writeHead(422).end()
      if (isLarge || body.includes('"poison"')) return response.writeHead(isLarge ? 413 : 400).end()
      if (request.url === '/hang') return
      if (request.url === '/moved') return response.writeHead(302, { location: `${base}/elsewhere` }).end()
      if (status === 200) received.push({ path: request.url!, headers: request.headers, body })
      response.writeHead(status).end()
    })
  })
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  await startSyslog()
  server = await startServer({ engine: true })
  instance = await createPrinter()
})

afterAll(async () => {
  await server?.stop()
  receiver?.closeAllConnections()
  receiver?.close()
  syslog?.kill('SIGKILL')
  rmSync(directory, { recursive: true, force: true })
})

async function createPrinter(): Promise<string> {
  const { status: code, body } = await server.api('POST', '/services', {
    name: 'printer',
    image: 'busybox:1',
    type: 'background_worker',
    start_command: 'exec sleep 1000000',
  })
  expect({ code, body }).toMatchObject({ code: 201 })
  expect(await endOf(server, body.latest_deploy.id)).toMatchObject({ status: 'live', error: null })
  return (await containersOf(body.id))[0]!
}

/** The distribution's rsyslog, which accepts messages by TCP and writes the parts of each to a file. */
async function startSyslog(): Promise<void> {
  directory = mkdtempSync(join(tmpdir(), 'syslog-'))
  const probe = createTcpServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  syslogPort = (probe.address() as AddressInfo).port
  probe.close()
  await once(probe, 'close')
  writeFileSync(
    join(directory, 'rsyslog.conf'),
    `global(workDirectory="${directory}" maxMessageSize="32k")
module(load="imtcp")
template(name="parts" type="string" string="%hostname%|%app-name%|%procid%|%msgid%|%syslogseverity-text%|%structured-data%|%msg%\\n")
input(type="imtcp" port="${syslogPort}" address="127.0.0.1" ruleset="all")
ruleset(name="all") { action(type="omfile" file="${directory}/messages" template="parts") }
`,
  )
  syslog = spawn(
    findProgram('rsyslogd')!,
    ['-n', '-f', join(directory, 'rsyslog.conf'), '-i', join(directory, 'pid')],
    { stdio: 'ignore' },
  )
}

function syslogged(): string[] {
  const file = join(directory, 'messages')
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
}

async function create(input: Record<string, unknown>): Promise<string> {
  const { status: code, body } = await server.api('POST', '/log-drains', { name: 'd', ...input })
  expect({ code, body }).toMatchObject({ code: 201, body: { enabled: true, sent: 0, dropped: 0 } })
  return body.id
}

async function deliveriesOf(id: string): Promise<LogDrainDelivery[]> {
  return (await server.api('GET', `/log-drains/${id}/deliveries`)).body
}

function print(command: string, stream = 1): Promise<string> {
  return docker('exec', instance, 'sh', '-c', `(${command}) > /proc/1/fd/${stream}`)
}

/** Waits until a drain has recorded that so many of its lines were accepted, which it does after its target has them. */
async function noted(id: string, lines: number): Promise<void> {
  const sent = async () => (await server.api('GET', `/log-drains/${id}`)).body.sent as number
  await waitFor(async () => (await sent()) === lines, 'the record')
}

/** The lines that arrived at a path as JSON lines. */
function taken(path: string): string[] {
  return received
    .filter((each) => each.path === path)
    .flatMap(({ body }) => body.trimEnd().split('\n'))
    .map((line) => (JSON.parse(line) as { line: string }).line)
}

test('each kind of target gets the lines in its own form', async () => {
  await print('echo before')
  const stored = async () => (await server.api('GET', '/services/printer/logs')).body as string
  await waitFor(async () => (await stored()).includes('before'), 'the line before')
  await create({ kind: 'syslog', url: `tcp://127.0.0.1:${syslogPort}` })
  await create({ kind: 'http', url: `${base}/lines`, token: 'a-secret-token' })
  await create({ kind: 'loki', url: base })
  await create({ kind: 'otlp', url: base, services: ['printer'] })
  await print('echo "first ä"')
  await print('echo second', 2)
  const at = (path: string) => received.filter((each) => each.path === path)
  await waitFor(
    () => taken('/lines').length === 2 && at('/loki/api/v1/push').length > 0 && at('/v1/logs').length > 0,
    'the lines',
  )
  expect(taken('/lines')).toEqual(['first ä', 'second'])
  expect(at('/lines')[0]!.headers.authorization).toBe('Bearer a-secret-token')
  expect(JSON.parse(at('/lines')[0]!.body.split('\n')[0]!)).toMatchObject({
    service: 'printer',
    environment: 'production',
    stream: 'stdout',
    instance,
  })
  const loki = at('/loki/api/v1/push').flatMap(
    ({ body }) => (JSON.parse(body) as { streams: unknown[] }).streams,
  )
  expect(loki).toContainEqual({
    stream: { service: 'printer', environment: 'production', stream: 'stdout' },
    values: [[expect.stringMatching(/^\d{19}$/), 'first ä', { instance }]],
  })
  const otlp = at('/v1/logs').map(({ body }) => JSON.parse(body) as { resourceLogs: unknown[] })
  expect(JSON.stringify(otlp)).toContain('"body":{"stringValue":"first ä"}')
  expect(JSON.stringify(otlp)).toContain('{"key":"service.name","value":{"stringValue":"printer"}}')
  await waitFor(() => syslogged().length === 2, 'the messages')
  expect(syslogged()[0]).toMatch(
    /^production\|printer\|[0-9a-f]{5}\|stdout\|info\|\[deployer@32473 service_id="srv-[0-9a-f]{20}" environment="production" stream="stdout"\]\|.*first ä$/,
  )
  expect(syslogged()[1]).toMatch(/\|stderr\|err\|.*second$/)
})

test('nothing is lost while a target accepts nothing, and the server is killed meanwhile', async () => {
  const id = await create({ kind: 'http', url: `${base}/again` })
  status = 503
  await print('seq 1 3000')
  const drain = async () => (await server.api('GET', `/log-drains/${id}`)).body
  await waitFor(async () => (await drain()).last_error !== null, 'the failure')
  expect((await drain()).last_error).toBe('answered 503')
  await server.kill('SIGKILL')
  await print('seq 3001 4000')
  status = 200
  await server.restart()
  await waitFor(() => taken('/again').length >= 4_000, 'the lines')
  expect([...new Set(taken('/again'))]).toEqual(
    Array.from({ length: 4_000 }, (_, index) => String(index + 1)),
  )
  await noted(id, taken('/again').length)
  expect(await drain()).toMatchObject({ last_error: null, dropped: 0 })
  const [last, before] = await deliveriesOf(id)
  expect(last).toMatchObject({ status: 'delivered', lines: taken('/again').length, error: null })
  expect(before).toMatchObject({ status: 'failed', lines: 0, error: 'answered 503' })
  expect(before!.began_at <= before!.ended_at && before!.ended_at <= last!.ended_at).toBe(true)
})

test('accepted lines are not sent again because that cannot be recorded', { tags: ['slow'] }, async () => {
  const id = await create({ kind: 'http', url: `${base}/full` })
  const database = databaseOf(server.dataDirectory)
  // As on a disk without a free page.
  database.exec(`CREATE TRIGGER full BEFORE UPDATE ON log_drain_places
    BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`)
  await print('seq 1 10')
  const drain = async () => (await server.api('GET', `/log-drains/${id}`)).body
  await waitFor(async () => (await drain()).last_error !== null, 'the failure')
  await waitFor(async () => (await deliveriesOf(id))[0]?.status === 'failed', 'the failure')
  database.exec('DROP TRIGGER full')
  database.close()
  await print('seq 11 20')
  await waitFor(() => taken('/full').length >= 20, 'the lines')
  await noted(id, 20)
  expect(taken('/full')).toEqual(Array.from({ length: 20 }, (_, index) => String(index + 1)))
  expect(await drain()).toMatchObject({ sent: 20, dropped: 0, last_error: null })
})

test(
  'lines that a target refuses for good are sent in smaller batches or left out, and the next lines arrive',
  { tags: ['slow'] },
  async () => {
    const id = await create({ kind: 'http', url: `${base}/small` })
    const drain = async () => (await server.api('GET', `/log-drains/${id}`)).body
    await print('seq 1 20')
    await noted(id, 20)
    await print('echo poison')
    await waitFor(async () => (await drain()).dropped === 1, 'the line to be left out')
    await print('echo after')
    await noted(id, 21)
    expect(taken('/small')).toEqual([...Array.from({ length: 20 }, (_, index) => String(index + 1)), 'after'])
    expect(await drain()).toMatchObject({ dropped: 1, sent: 21 })
    expect(await deliveriesOf(id)).toMatchObject([
      { status: 'delivered', lines: 1 },
      { status: 'dropped', lines: 1, attempts: 1, error: 'answered 400' },
      { status: 'delivered', lines: 20 },
    ])
  },
)

test('a refused line does not affect those that are sent with it', { tags: ['slow'] }, async () => {
  const picky = await create({ kind: 'http', url: `${base}/picky` })
  const never = await create({ kind: 'http', url: `${base}/never` })
  await print('seq 1 700; echo poison; seq 701 900; echo poison; seq 901 1500')
  await waitFor(() => taken('/picky').includes('1500'), 'the last line')
  expect(taken('/picky')).toEqual(Array.from({ length: 1_500 }, (_, index) => String(index + 1)))
  const drain = async (id: string) => (await server.api('GET', `/log-drains/${id}`)).body
  await noted(picky, 1_500)
  expect(await drain(picky)).toMatchObject({ sent: 1_500, dropped: 2 })
  // For a target that refuses everything, this is found out soon.
  await waitFor(async () => (await drain(never)).dropped === 1_502, 'all to be left out')
  expect(asked.filter((path) => path === '/never').length).toBeLessThan(60)
  for (const id of [picky, never]) await server.api('DELETE', `/log-drains/${id}`)
})

test('a target that never answers delays no other, and a redirect is not followed', async () => {
  const hanging = await create({ kind: 'http', url: `${base}/hang` })
  const moved = await create({ kind: 'http', url: `${base}/moved` })
  const other = await create({ kind: 'http', url: `${base}/beside` })
  await print('echo onwards')
  await waitFor(() => taken('/beside').includes('onwards'), 'the line at the other')
  const errorOf = async (id: string) => (await server.api('GET', `/log-drains/${id}`)).body.last_error
  await waitFor(
    async () => (await errorOf(moved))?.startsWith('answered 302: redirects') === true,
    'the failure',
  )
  expect(received.filter(({ path }) => path === '/elsewhere')).toEqual([])
  for (const id of [hanging, moved, other]) await server.api('DELETE', `/log-drains/${id}`)
})

test('a disabled drain sends nothing, and continues where it was when it is enabled again', async () => {
  const id = await create({ kind: 'http', url: `${base}/pause` })
  await print('echo one')
  await noted(id, 1)
  await server.api('PATCH', `/log-drains/${id}`, { enabled: false })
  await print('echo two')
  await waitFor(() => taken('/lines').includes('two'), 'the line at another')
  expect(taken('/pause')).toEqual(['one'])
  await server.api('PATCH', `/log-drains/${id}`, { enabled: true })
  await waitFor(() => taken('/pause').includes('two'), 'the second line')
  expect(taken('/pause')).toEqual(['one', 'two'])
  expect((await server.api('DELETE', `/log-drains/${id}`)).status).toBe(204)
})

test('a test says whether the target accepts a line', async () => {
  const good = await create({ kind: 'syslog', url: `tcp://127.0.0.1:${syslogPort}` })
  expect((await server.api('POST', `/log-drains/${good}/test`)).body).toEqual({
    ok: true,
    status: null,
    error: null,
  })
  const bad = await create({ kind: 'http', url: 'http://127.0.0.1:9/' })
  expect((await server.api('POST', `/log-drains/${bad}/test`)).body).toMatchObject({
    ok: false,
    error: expect.stringContaining('ECONNREFUSED'),
  })
})

test.each([
  [{ kind: 'syslog', url: 'tcp://169.254.169.254:514' }, 'url'],
  [{ kind: 'syslog', url: 'http://127.0.0.1:514' }, 'url'],
  [{ kind: 'syslog', url: 'tcp://127.0.0.1' }, 'url'],
  [{ kind: 'syslog', url: 'tcp://127.0.0.1:514', token: 'x' }, 'token'],
  [{ kind: 'http', url: 'tcp://127.0.0.1:514' }, 'url'],
  [{ kind: 'loki', url: 'http://[fe80::1]/' }, 'url'],
  [{ kind: 'http', url: 'http://127.0.0.1/', token: 'a b' }, 'token'],
  [{ kind: 'carrier', url: 'http://127.0.0.1/' }, 'kind'],
])('refuses %j', async (input, field) => {
  const { status: code, body } = await server.api('POST', '/log-drains', { name: 'd', ...input })
  expect({ code, error: body.error.code }).toEqual({ code: 400, error: 'invalid_request' })
  expect(body.error.message).toMatch(new RegExp(`^${field}`))
})

import { appendFileSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clientsBehindProxy } from '../support/cut-clients.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { client, linesOf } from './client.ts'

const KIB = 1024
const BEGIN = Date.parse('2026-01-02T03:04:05Z')

let server: TestServer

beforeAll(async () => {
  // Without an engine, deploys wait; their logs are files that a test can write.
  server = await startServer()
})
afterAll(() => server?.stop())

const clients = clientsBehindProxy(() => server)
const { start } = clients

let made = 0

/** Creates a service with a deploy that waits for the engine. */
async function create(): Promise<{ id: string; name: string; deploy: string }> {
  const name = `one-${++made}`
  const { status, body } = await server.api('POST', '/services', { name, image: 'busybox:1' })
  expect(status).toBe(201)
  return { id: body.id, name, deploy: body.latest_deploy.id }
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`)

/** Log lines as they are stored, several a millisecond. */
function stored(
  lines: readonly string[],
  { instance, every = 1 }: { instance?: string; every?: number } = {},
) {
  return lines
    .map((line, index) => {
      const ts = new Date(BEGIN + Math.floor(index * every)).toISOString()
      return `${JSON.stringify({ ts, stream: 'stdout', line, ...(instance ? { instance } : {}) })}\n`
    })
    .join('')
}

function appendToLog(id: string, text: string): void {
  mkdirSync(join(server.dataDirectory, 'logs'), { recursive: true })
  appendFileSync(join(server.dataDirectory, 'logs', `${id}.ndjson`), text)
}

function storeServiceLog(id: string, text: string): void {
  const folder = join(server.dataDirectory, 'logs', 'services', id)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${'0'.repeat(15)}.${new Date().toISOString().slice(0, 10)}.ndjson`), text)
}

const ownLines = (text: string) => linesOf(text).filter((line) => line.startsWith('line '))

test('the log of a deploy has each line once across many cuts, and following ends as the deploy does', async () => {
  const { deploy } = await create()
  appendToLog(deploy, stored(numbers(1, 6_000)))
  // Each connection reads from the first line, and gets further than the one before.
  clients.proxy.cutAfter = (connection) => (connection < 8 ? connection * 60 * KIB + 7 : null)
  const following = start('deploys', 'logs', deploy, '-f')
  await waitFor(() => clients.proxy.count > 3, 'the first cuts')
  appendToLog(deploy, stored(numbers(6_001, 9_000)))
  await waitFor(() => ownLines(following.out).length >= 6_000, 'the lines')
  await server.api('POST', `/deploys/${deploy}/cancel`)
  const { code, out, error } = await following.ended
  expect(ownLines(out)).toEqual(numbers(1, 9_000))
  expect(code).toBe(1)
  expect(linesOf(error).at(-1)).toBe(`deployer: ${deploy} was canceled`)
  expect(clients.proxy.count).toBeGreaterThan(6)
})

/** A step of the server and one of a build with their lines, as they are stored. */
function storedSteps(): string {
  const started_at = '2026-01-02T03:04:05.678Z'
  const fetching = { started_at, id: 'source', name: 'Fetch the source', cached: false }
  const running = { started_at, id: 'build-1', name: '[1/2] RUN npm ci', cached: false }
  const line = (text: string, step: string) => ({ ts: started_at, stream: 'stdout', line: text, step })
  return [
    { ...fetching, duration_ms: null, status: 'running' },
    line('cloning', 'source'),
    { ...fetching, duration_ms: 1_234, status: 'succeeded' },
    { ...running, duration_ms: null, status: 'running' },
    line('#1 [1/2] RUN npm ci', 'build-1'),
    line('#1 ERROR', 'build-1'),
    { ...running, duration_ms: 65_000, status: 'failed' },
  ]
    .map((each) => `${JSON.stringify(each)}\n`)
    .join('')
}

test('what follows a deploy says its steps, and a log in a pipe stays as it was stored', async () => {
  const { name, deploy: first } = await create()
  await server.api('POST', `/deploys/${first}/cancel`)
  const following = start('deploy', '-s', name)
  let deploy = ''
  await waitFor(async () => {
    deploy = (await server.api('GET', `/services/${name}`)).body.latest_deploy.id
    return deploy !== first
  }, 'the deploy')
  appendToLog(deploy, storedSteps())
  await server.api('POST', `/deploys/${deploy}/cancel`)
  const { error } = await following.ended
  expect(linesOf(error).filter((line) => !line.startsWith('waiting'))).toEqual([
    '--- Fetch the source',
    'cloning',
    '--- Fetch the source: 1.2 s',
    '#1 [1/2] RUN npm ci',
    '#1 ERROR',
    `deployer: ${deploy} was canceled`,
  ])
  const kept = await client(server, 'deploys', 'logs', deploy)
  expect(linesOf(kept.out).slice(-3)).toEqual(['cloning', '#1 [1/2] RUN npm ci', '#1 ERROR'])
  const { out } = await client(server, 'deploys', 'logs', deploy, '--json')
  expect(JSON.parse(linesOf(out).at(-1)!)).toMatchObject({ line: '#1 ERROR', step: 'build-1' })
})

test('a cut is told once, and so is that it goes on', async () => {
  const { deploy } = await create()
  appendToLog(deploy, stored(numbers(1, 3)))
  const following = start('deploys', 'logs', deploy, '-f')
  await waitFor(() => ownLines(following.out).length === 3, 'the lines')
  clients.proxy.cut()
  await waitFor(() => following.error.includes('goes on'), 'the second connection')
  await server.api('POST', `/deploys/${deploy}/cancel`)
  const { out, error } = await following.ended
  expect(ownLines(out)).toEqual(numbers(1, 3))
  expect(linesOf(error)).toEqual([
    expect.stringMatching(/^deployer: the stream of .* was cut: .*; trying again$/),
    `deployer: connected again; the log of ${deploy} goes on`,
    `deployer: ${deploy} was canceled`,
  ])
})

test('with --json a log is one object a line, and nothing is said about cuts', async () => {
  const { deploy } = await create()
  appendToLog(deploy, stored(numbers(1, 3)))
  const following = start('deploys', 'logs', deploy, '-f', '--json')
  const lines = () =>
    linesOf(following.out)
      .map((line) => JSON.parse(line))
      .filter(({ line }) => line.startsWith('line '))
  await waitFor(() => lines().length === 3, 'the lines')
  clients.proxy.cut()
  await server.api('POST', `/deploys/${deploy}/cancel`)
  const { code, error } = await following.ended
  // The server's own line about what the deploy waits for can come before or after these.
  expect(lines()).toEqual(numbers(1, 3).map((line) => ({ ts: expect.any(String), stream: 'stdout', line })))
  expect(code).toBe(1)
  expect(JSON.parse(error)).toEqual({
    error: { code: 'canceled', message: `${deploy} was canceled`, exit_code: 1 },
  })
})

test('a log without -f ends by itself with 0', async () => {
  const { deploy } = await create()
  appendToLog(deploy, stored(numbers(1, 3)))
  expect(await client(server, 'deploys', 'logs', deploy)).toEqual({
    code: 0,
    // The server's own line about what the deploy waits for can come before or after these.
    out: expect.stringMatching(/^line 1\nline 2\nline 3$/m),
    error: '',
  })
})

test('the log of a service has each line once across cuts, however many are in a millisecond', async () => {
  const { id, name } = await create()
  storeServiceLog(id, stored(numbers(1, 20_000), { instance: `${id}-1a2b3`, every: 0.05 }))
  clients.proxy.cutAfter = (connection) => (connection < 7 ? 400 * KIB + connection : null)
  const { code, out } = await start('logs', name, '-n', '20000').ended
  expect(code).toBe(0)
  expect(linesOf(out)).toEqual(numbers(1, 20_000))
  expect(clients.proxy.count).toBeGreaterThan(4)
})

test('lines of several services are printed together, merged by time, each once across cuts', async () => {
  const [one, two] = [await create(), await create()]
  storeServiceLog(one.id, stored(numbers(1, 3_000), { instance: `${one.id}-1a2b3`, every: 2 }))
  storeServiceLog(two.id, stored(['ERROR it broke', ...numbers(1, 2_999)], { every: 2 }))
  clients.proxy.cutAfter = (connection) => (connection < 4 ? 200 * KIB + connection : null)
  const { code, out } = await start('logs', one.name, two.name, '-n', '6000').ended
  const of = (name: string) =>
    linesOf(out).flatMap((line) => (line.startsWith(`${name} | `) ? [line.slice(name.length + 3)] : []))
  expect(code).toBe(0)
  expect(of(one.name)).toEqual(numbers(1, 3_000))
  expect(of(two.name)).toEqual(['ERROR it broke', ...numbers(1, 2_999)])
  const urgent = await client(server, 'logs', '--all', '--level', 'warn,error', '--json')
  expect(JSON.parse(urgent.out)).toMatchObject({ service: two.name, service_id: two.id, level: 'error' })
})

test('Ctrl-C ends following with 130, SIGTERM with 143', async () => {
  const { name, deploy } = await create()
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    for (const words of [
      ['logs', name, '-f'],
      ['deploys', 'logs', deploy, '-f'],
      ['events'],
      ['server', 'logs', '-f'],
    ]) {
      const before = clients.proxy.count
      const following = start(...words)
      await waitFor(() => clients.proxy.count > before, 'a connection')
      following.child.kill(signal)
      expect({ words, code: (await following.ended).code }).toEqual({ words, code })
    }
  }
})

test('a reader that leaves ends it at once, silently, with 0', async () => {
  const { id, name } = await create()
  storeServiceLog(id, stored(numbers(1, 20_000), { instance: `${id}-1a2b3` }))
  const following = start('logs', name, '-f', '-n', '20000')
  following.child.stdout!.once('data', () => following.child.stdout!.destroy())
  const { code, error } = await following.ended
  expect({ code, error }).toEqual({ code: 0, error: '' })
})

test('a full disk ends it with 1 and a line', async () => {
  const { id, name } = await create()
  storeServiceLog(id, stored(numbers(1, 3), { instance: `${id}-1a2b3` }))
  const full = { output: openSync('/dev/full', 'w') }
  const { code, error } = await clients.startWith(full, 'logs', name, '-f').ended
  expect({ code, lines: linesOf(error) }).toEqual({
    code: 1,
    lines: [expect.stringContaining('no space left')],
  })
})

test('events are printed as they come; after a cut everything may have changed', async () => {
  const following = start('events', '--json')
  const events = () => linesOf(following.out).map((line) => JSON.parse(line))
  await waitFor(async () => {
    await create()
    return following.out !== ''
  }, 'an event')
  const { id } = await create()
  await waitFor(() => following.out.includes(id), 'its creation')
  expect(events()).toContainEqual({ kind: 'service', id, service_id: id, action: 'created' })
  clients.proxy.cut()
  await waitFor(() => following.out.includes('resync'), 'the second connection')
  expect(events()).toContainEqual({ kind: 'all', action: 'resync' })
  const later = await create()
  await waitFor(() => following.out.includes(later.id), 'an event')
})

test("the server's log goes on after the server was started again", async () => {
  const following = start('server', 'logs', '-f', '-n', '5', '--json')
  await waitFor(() => following.out !== '', 'the recent lines')
  const lines = () =>
    linesOf(following.out).map((line) => JSON.parse(line) as { ts: string; message: string })
  const before = lines().length
  await server.restart()
  await waitFor(
    () =>
      lines()
        .slice(before)
        .some(({ message }) => /services at port/.test(message)),
    'its start',
  )
  const told = linesOf(following.out)
  expect(new Set(told).size).toBe(told.length)
})

test('bad words are refused before anything is asked', async () => {
  const nowhere = { url: 'http://127.0.0.1:9', token: 'x' }
  for (const words of [
    ['logs', 'web', '-n', 'many'],
    ['logs', 'web', '--all'],
    ['restart', 'web', '--timeout', 'soon'],
    ['deploys', 'web', '--limit', '0'],
    ['scale', 'web', 'two'],
    ['metrics', '--range', '2h'],
  ])
    expect({ words, ...(await client(nowhere, ...words)) }).toMatchObject({ words, code: 2, out: '' })
})

test('run ends with 125 for its own faults, and with 2 for wrong words', async () => {
  const { name } = await create()
  const unlive = await client(server, 'run', name, '--', 'true')
  expect(unlive).toMatchObject({ code: 125, error: expect.stringContaining('has no live image') })
  expect(await client(server, 'run', 'nobody', '--', 'true')).toMatchObject({ code: 125 })
  expect(await client({ url: 'http://127.0.0.1:9', token: 'x' }, 'run', name, '--', 'true')).toMatchObject({
    code: 125,
  })
  expect(await client(server, 'run', name)).toMatchObject({ code: 2 })
  expect(await client(server, 'run', name, 'two', '--', 'true')).toMatchObject({ code: 2 })
})

test('lists, single things and figures are printed as JSON as the API has them', async () => {
  const { name, deploy } = await create()
  const paths: [string[], string][] = [
    [['deploys', name], `/services/${name}/deploys`],
    [['deploys', 'show', deploy], `/deploys/${deploy}`],
    [['jobs', name], `/services/${name}/jobs`],
    [['ps', name], `/services/${name}/status`],
    [['server', 'info'], '/info'],
  ]
  for (const [words, path] of paths) {
    const { code, out } = await client(server, ...words, '--json')
    const { body } = await server.api('GET', path)
    expect({ words, code, out }).toEqual({ words, code: 0, out: `${JSON.stringify(body, null, 2)}\n` })
  }
  const metrics = await client(server, 'metrics', name, '--json')
  expect(linesOf(metrics.out)).toHaveLength(1)
  expect(JSON.parse(metrics.out)).toMatchObject({ range: '1h' })
  expect((await client(server, 'deploys', name, '-q')).out).toBe(`${deploy}\n`)
  expect((await client(server, 'deploys', name)).out.split('\t').slice(0, 2)).toEqual([deploy, 'queued'])
})

test('a stream that goes silent is taken up again', { tags: ['slow'] }, async () => {
  const { deploy } = await create()
  appendToLog(deploy, stored(numbers(1, 3)))
  const following = start('deploys', 'logs', deploy, '-f')
  await waitFor(() => ownLines(following.out).length === 3, 'the lines')
  clients.proxy.isSilent = true
  await waitFor(() => following.error.includes('nothing came for 45 s'), 'the cut')
  clients.proxy.isSilent = false
  await server.api('POST', `/deploys/${deploy}/cancel`)
  expect(await following.ended).toMatchObject({ code: 1, error: expect.stringContaining('was canceled') })
})

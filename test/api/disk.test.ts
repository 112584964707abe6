import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readEvents, type StreamEvent } from '../support/sse.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { refusal } from './account-client.ts'

/** No disk has as much free. */
const FLOOR_TIB = 1_024
const FLOOR_BYTES = FLOOR_TIB * 1024 ** 4
const KINDS = [
  'images',
  'build_cache',
  'archives',
  'sites',
  'logs',
  'mirrors',
  'datastore_backups',
  'server_backups',
  'datastores',
  'disks',
  'kept_volumes',
  'database',
  'metrics',
]
const IN_ENGINE = ['images', 'build_cache', 'datastores', 'disks', 'kept_volumes']
const STRAY = 'dep-0123456789abcdef0123'

let server: TestServer

beforeAll(async () => {
  server = await startServer({ flags: ['--disk-floor', `${FLOOR_TIB}TiB`] })
})
afterAll(() => server.stop())

interface Use {
  kinds: { kind: string; bytes: number | null; items: number | null }[]
  top: { kind: string; id: string; name: string; bytes: number }[]
}

describe('what takes room', () => {
  test('is told by kind and by name; without an engine what it keeps is unknown', async () => {
    const backups = join(server.dataDirectory, 'backups', 'server')
    mkdirSync(backups, { recursive: true })
    writeFileSync(join(backups, 'sbk-0123456789abcdef0123'), Buffer.alloc(300_000))
    const { status, body } = await server.api('GET', '/server/disk')
    expect(status).toBe(200)
    const { kinds, top } = body as Use
    expect(kinds.map(({ kind }) => kind)).toEqual(KINDS)
    for (const { kind, bytes, items } of kinds) {
      if (IN_ENGINE.includes(kind)) expect({ bytes, items }).toEqual({ bytes: null, items: null })
      else expect({ kind, bytes: Number.isInteger(bytes) }).toEqual({ kind, bytes: true })
    }
    const of = (kind: string) => kinds.find((each) => each.kind === kind)!
    expect(of('database').bytes).toBeGreaterThan(4_096)
    expect(of('server_backups')).toMatchObject({ items: 1 })
    expect(of('server_backups').bytes).toBeGreaterThanOrEqual(300_000)
    expect(top).toContainEqual({
      kind: 'server_backups',
      id: 'sbk-0123456789abcdef0123',
      name: 'sbk-0123456789abcdef0123',
      bytes: of('server_backups').bytes,
    })
    expect(top.map(({ bytes }) => bytes)).toEqual(top.map(({ bytes }) => bytes).sort((a, b) => b - a))
    const { filesystem, filesystems } = body
    expect(filesystem.total_bytes).toBeGreaterThanOrEqual(filesystem.free_bytes)
    expect(filesystems).toEqual({ data: { ...filesystem, floor_bytes: FLOOR_BYTES }, engine: null })
  })
})

describe('a cleanup', () => {
  test.each([
    [{ kinds: ['datastores'] }],
    [{ kinds: ['everything'] }],
    [{ kinds: [] }],
    [{ kinds: 'images' }],
    [{ dry_run: 'yes' }],
    [{ dry: true }],
  ])('refuses %j', async (body) => {
    expect(await server.api('POST', '/server/cleanup', body)).toMatchObject(refusal(400, 'invalid_request'))
  })

  test('of what is in the engine needs an engine, and of everything leaves that out', async () => {
    expect(await server.api('POST', '/server/cleanup', { kinds: ['images'] })).toMatchObject(
      refusal(502, 'runtime_error'),
    )
    expect((await server.api('POST', '/server/cleanup', { dry_run: true })).status).toBe(200)
  })

  test('first tells what it would remove, then removes that and nothing else', async () => {
    const at = (...names: string[]) => join(server.dataDirectory, ...names)
    const dayAgo = Date.now() / 1_000 - 86_400
    const old = (path: string) => utimesSync(path, dayAgo, dayAgo)
    writeFileSync(at('archives', `${STRAY}.tar.gz`), Buffer.alloc(100_000))
    old(at('archives', `${STRAY}.tar.gz`))
    // It may still be coming in.
    const arriving = at('archives', `${STRAY.replace('0123', '1123')}.tar.gz`)
    writeFileSync(arriving, 'half')
    const foreign = at('archives', 'notes.txt')
    writeFileSync(foreign, 'mine')
    writeFileSync(at('logs', `${STRAY}.ndjson`), '{}\n')
    mkdirSync(at('sites', STRAY, 'files'), { recursive: true })
    writeFileSync(at('sites', STRAY, 'files', 'index.html'), 'old')

    const plan = await server.api('POST', '/server/cleanup', { dry_run: true })
    const removed = plan.body.removed as Use['top']
    expect(removed.map(({ kind, id, name }) => ({ kind, id, name }))).toEqual(
      ['archives', 'sites', 'logs'].map((kind) => ({ kind, id: STRAY, name: STRAY })),
    )
    expect(removed[0]!.bytes).toBeGreaterThanOrEqual(100_000)
    expect(plan.body.freed_bytes).toBe(removed.reduce((sum, { bytes }) => sum + bytes, 0))
    expect(existsSync(at('archives', `${STRAY}.tar.gz`))).toBe(true)

    const first = await server.api('POST', '/server/cleanup', { kinds: ['archives', 'sites'] })
    expect(first.body.removed).toEqual(removed.slice(0, 2))
    expect(existsSync(at('archives', `${STRAY}.tar.gz`))).toBe(false)
    expect(existsSync(at('sites', STRAY))).toBe(false)
    expect(existsSync(at('logs', `${STRAY}.ndjson`))).toBe(true)
    const rest = await server.api('POST', '/server/cleanup', {})
    expect(rest.body.removed).toEqual(removed.slice(2))
    expect((await server.api('POST', '/server/cleanup')).body).toEqual({ removed: [], freed_bytes: 0 })
    expect([arriving, foreign].map((path) => existsSync(path))).toEqual([true, true])
  })
})

describe('below the floor', () => {
  test('a deploy that builds waits, says for what and can be canceled; one of an image does not wait', async () => {
    const feed = new AbortController()
    const events: StreamEvent[] = []
    const headers = { authorization: `Bearer ${server.token}` }
    const stream = await fetch(`${server.url}/api/v1/events`, { headers, signal: feed.signal })
    const reading = (async () => {
      for await (const event of readEvents(stream)) events.push(event)
    })().catch(() => {})

    const create = async (fields: object): Promise<string> =>
      (await server.api('POST', '/services', fields)).body.latest_deploy.id as string
    const built = await create({ name: 'built', repo_url: 'https://git.example.com/x.git' })
    const pulled = await create({ name: 'pulled', image: 'busybox:1' })
    const waiting = async (id: string) => (await server.api('GET', `/deploys/${id}`)).body.waiting
    const wait = await waitFor(() => waiting(built), 'the deploy to wait for the disk')
    expect(wait).toMatchObject({ for: 'disk', floor_bytes: FLOOR_BYTES })
    expect(wait.free_bytes).toBeGreaterThan(0)
    expect(Date.parse(wait.since)).toBeGreaterThan(Date.now() - 60_000)
    expect(await waiting(pulled)).toBeNull()
    const listed = (await server.api('GET', '/services/built/deploys')).body
    expect(listed).toMatchObject([
      { id: built, status: 'queued', waiting: { for: 'disk', since: wait.since } },
    ])
    expect((await server.api('GET', '/services/built')).body.latest_deploy.waiting.since).toBe(wait.since)

    const told = () => events.filter(({ data }) => data.includes(built)).map(({ data }) => JSON.parse(data))
    await waitFor(() => told().some(({ action }) => action === 'updated'), 'the wait to be announced')
    feed.abort()
    await reading
    const canceled = await server.api('POST', `/deploys/${built}/cancel`)
    expect(canceled.body).toMatchObject({ status: 'canceled', waiting: null })
    expect(existsSync(join(server.dataDirectory, 'logs', `${built}.ndjson`))).toBe(true)
  })
})

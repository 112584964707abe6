import { execFileSync } from 'node:child_process'
import { gzipSync } from 'node:zlib'
import { appendFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { pack } from 'tar-stream'
import { buffer } from 'node:stream/consumers'
import { databaseOf } from '../support/database.ts'
import { allEvents } from '../support/sse.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { refusal } from './account-client.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

const REPOSITORY = 'https://git.example.com/x.git'
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

let made = 0
let name: string

beforeEach(() => {
  name = `one-${++made}`
})

async function create(fields: object): Promise<{ id: string; latest_deploy: { id: string } | null }> {
  const created = await server.api('POST', '/services', { name, ...fields })
  expect(created.status).toBe(201)
  return created.body
}

async function deploys(query = ''): Promise<{ id: string; status: string; error: string | null }[]> {
  const { status, body } = await server.api('GET', `/services/${name}/deploys${query}`)
  expect(status).toBe(200)
  return body
}

async function archive(): Promise<Buffer> {
  const tar = pack()
  tar.entry({ name: 'Dockerfile' }, 'FROM busybox:1\n')
  tar.finalize()
  return gzipSync(await buffer(tar))
}

describe('a deploy', () => {
  it('of a repository is queued with every documented field', async () => {
    const service = await create({ repo_url: REPOSITORY, branch: 'main', deploy: false })
    const { status, body } = await server.api('POST', `/services/${name}/deploys`)
    expect(status).toBe(202)
    expect(body).toEqual({
      id: expect.stringMatching(/^dep-[0-9a-f]{20}$/) as string,
      service_id: service.id,
      status: 'queued',
      trigger: 'manual',
      source: { kind: 'git', repo_url: REPOSITORY, branch: 'main', commit: null },
      commit_sha: null,
      commit_message: null,
      commit_author: null,
      image: null,
      port: null,
      error: null,
      waiting: null,
      created_at: expect.stringMatching(TIMESTAMP) as string,
      started_at: null,
      finished_at: null,
    })
    expect((await server.api('GET', `/deploys/${body.id}`)).body).toEqual(body)
    expect((await server.api('GET', `/services/${name}`)).body).toMatchObject({
      state: 'deploying',
      latest_deploy: { id: body.id },
    })
  })

  it('comes with the creation of a service that has a source, unless turned off', async () => {
    const service = await create({ image: 'busybox:1' })
    expect(service.latest_deploy).toMatchObject({
      trigger: 'create',
      status: 'queued',
      source: { kind: 'image', repo_url: null, branch: null, commit: null },
      image: 'busybox:1',
    })
    name = `${name}-quiet`
    expect((await create({ image: 'busybox:1', deploy: false })).latest_deploy).toBeNull()
    expect(await deploys()).toEqual([])
  })

  it('uses the requested commit', async () => {
    await create({ repo_url: REPOSITORY, deploy: false })
    for (const commit of ['9fceb02', 'a'.repeat(40), 'a'.repeat(64), 'v1.2.3', 'feature/x', 'refs/tags/v1']) {
      const { status, body } = await server.api('POST', `/services/${name}/deploys`, { commit })
      expect([commit, status, body.source?.commit]).toEqual([commit, 202, commit])
    }
  })

  it.each([
    '',
    '-x',
    '--upload-pack=x',
    'a b',
    'a..b',
    'HEAD~1',
    'x^{}',
    'a:b',
    'a\n',
    'a\0',
    '@{-1}',
    'x'.repeat(300),
    7,
    null,
  ])('is refused with an impossible commit, and nothing is queued: %j', async (commit) => {
    await create({ repo_url: REPOSITORY, deploy: false })
    const answer = await server.api('POST', `/services/${name}/deploys`, { commit })
    expect(answer).toMatchObject(refusal(400, 'invalid_request'))
    expect(answer.body.error.message).toMatch(/^commit: /)
    expect(await deploys()).toEqual([])
  })

  it.each([
    ['a cache that is no boolean', { clear_cache: 'true' }],
    ['null', { clear_cache: null }],
    ['an unknown field', { branch: 'x' }],
    ['an array', []],
  ])('is refused with %s', async (_, body) => {
    await create({ repo_url: REPOSITORY, deploy: false })
    expect(await server.api('POST', `/services/${name}/deploys`, body)).toMatchObject(
      refusal(400, 'invalid_request'),
    )
    expect(await deploys()).toEqual([])
  })

  it('of a commit is refused for an image', async () => {
    await create({ image: 'busybox:1', deploy: false })
    const answer = await server.api('POST', `/services/${name}/deploys`, { commit: 'abcd' })
    expect(answer).toMatchObject(refusal(400, 'invalid_request'))
    expect(answer.body.error.message).toMatch(/^commit: .*repository/)
  })

  it('without a source is refused, and the message says what to set', async () => {
    await create({})
    const answer = await server.api('POST', `/services/${name}/deploys`)
    expect(answer).toMatchObject(refusal(400, 'invalid_request'))
    expect(answer.body.error.message).toMatch(/repo_url.*image.*upload/)
  })

  it('is found only by its id', async () => {
    const service = await create({ image: 'busybox:1' })
    const ids = [
      service.id,
      name,
      'dep-00000000000000000000',
      service.latest_deploy!.id.toUpperCase(),
      'dep-x',
    ]
    for (const id of ids) {
      for (const path of ['', '/logs', '/logs?follow'])
        expect(await server.api('GET', `/deploys/${id}${path}`)).toMatchObject(refusal(404, 'not_found'))
      expect(await server.api('POST', `/deploys/${id}/cancel`)).toMatchObject(refusal(404, 'not_found'))
    }
  })
})

describe('deploys that wait', () => {
  it('are superseded by a newer one from source, which they name', async () => {
    await create({ image: 'busybox:1' })
    const newer = await server.api('POST', `/services/${name}/deploys`)
    const [latest, older] = await deploys()
    expect(latest).toMatchObject({ id: newer.body.id, status: 'queued', error: null })
    expect(older).toMatchObject({
      status: 'canceled',
      error: `superseded by ${newer.body.id}`,
      started_at: null,
      finished_at: expect.stringMatching(TIMESTAMP) as string,
    })
  })

  it.each([
    ['a build, and the policy is to wait', 'wait', 'create', 'building', false],
    ['a build', 'override', 'create', 'building', true],
    ['the rollout of a restart', 'override', 'restart', 'deploying', true],
    ['the rollout of a rollback', 'override', 'rollback', 'deploying', false],
  ])(
    'wait for %s, or cancel it, as the policy %s says',
    async (_, overlap_policy, trigger, status, isCanceled) => {
      const { latest_deploy } = await create({ image: 'busybox:1', overlap_policy })
      const database = databaseOf(server.dataDirectory)
      const change = database.prepare('UPDATE deploys SET trigger = ?, status = ? WHERE id = ?')
      change.run(trigger, status, latest_deploy!.id)
      database.close()
      const newer = await server.api('POST', `/services/${name}/deploys`)
      expect((await server.api('GET', `/deploys/${latest_deploy!.id}`)).body).toMatchObject(
        isCanceled
          ? { status: 'canceled', error: `superseded by ${newer.body.id}` }
          : { status, error: null },
      )
    },
  )

  it('of another service are left alone', async () => {
    const first = await create({ image: 'busybox:1' })
    name = `${name}-other`
    await create({ image: 'busybox:1' })
    await server.api('POST', `/services/${name}/deploys`)
    expect((await server.api('GET', `/deploys/${first.latest_deploy!.id}`)).body.status).toBe('queued')
  })

  it('are canceled on request; a second time changes nothing', async () => {
    const { latest_deploy } = await create({ image: 'busybox:1' })
    const canceled = await server.api('POST', `/deploys/${latest_deploy!.id}/cancel`)
    expect(canceled).toMatchObject({ status: 200, body: { status: 'canceled', started_at: null } })
    const again = await server.api('POST', `/deploys/${latest_deploy!.id}/cancel`)
    expect(again).toMatchObject({ status: 200, body: canceled.body as object })
    expect((await server.api('GET', `/services/${name}`)).body.state).toBe('not_deployed')
  })

  it('are canceled by suspending, and a suspended service accepts no more', async () => {
    const { latest_deploy } = await create({ image: 'busybox:1' })
    await server.api('POST', `/services/${name}/suspend`)
    expect((await server.api('GET', `/deploys/${latest_deploy!.id}`)).body).toMatchObject({
      status: 'canceled',
      error: expect.stringMatching(/suspended/) as string,
    })
    for (const [path, body] of [
      ['deploys', {}],
      ['restart', undefined],
      ['deploys/upload', 'x'],
    ] as const) {
      const answer = await server.api('POST', `/services/${name}/${path}`, body)
      expect([path, answer.status, answer.body.error.code]).toEqual([path, 409, 'conflict'])
    }
    expect(await deploys()).toHaveLength(1)
  })

  it('are canceled by deleting', async () => {
    const { latest_deploy } = await create({ image: 'busybox:1' })
    await server.api('DELETE', `/services/${name}`)
    expect((await server.api('GET', `/deploys/${latest_deploy!.id}`)).body.status).toBe('canceled')
  })

  it('have a log that says what they wait for, and ends', async () => {
    const { latest_deploy } = await create({ image: 'busybox:1' })
    const init = { headers: { authorization: `Bearer ${server.token}` } }
    const url = `${server.url}/api/v1/deploys/${latest_deploy!.id}/logs`
    await expect
      .poll(async () => await allEvents(await fetch(url, init)))
      .toEqual([
        { event: 'log', data: expect.stringContaining('waiting for the container engine') as string },
        { event: 'end', data: '' },
      ])
    const following = await fetch(`${url}?follow`, init)
    await server.api('POST', `/deploys/${latest_deploy!.id}/cancel`)
    expect((await allEvents(following)).at(-1)).toEqual({ event: 'end', data: '' })
  })

  it('have lines and steps in their log, and lines alone if they are from before there were steps', async () => {
    const { latest_deploy } = await create({ image: 'busybox:1' })
    const { id } = latest_deploy!
    const ts = '2026-01-02T03:04:05.678Z'
    const step = { started_at: ts, id: 'build-1', name: '[1/2] FROM "x"', cached: false }
    const began = { ...step, duration_ms: null, status: 'running' }
    const ended = { ...step, duration_ms: 1_500, status: 'succeeded' }
    const lines = [
      { ts, stream: 'stdout', line: 'old' },
      { ts, stream: 'stdout', line: 'new', step: 'build-1' },
    ]
    const stored = [lines[0], began, lines[1], ended].map((each) => `${JSON.stringify(each)}\n`).join('')
    mkdirSync(join(server.dataDirectory, 'logs'), { recursive: true })
    appendFileSync(join(server.dataDirectory, 'logs', `${id}.ndjson`), stored)
    const init = { headers: { authorization: `Bearer ${server.token}` } }
    const events = await allEvents(await fetch(`${server.url}/api/v1/deploys/${id}/logs`, init))
    const told = events.map(({ event, data }) => [event, data && JSON.parse(data)])
    // The server's own line about what the deploy waits for can come before or after these.
    expect(told.filter(([, data]) => data.stream !== 'system')).toEqual([
      ['log', lines[0]],
      ['step', began],
      ['log', lines[1]],
      ['step', ended],
      ['end', ''],
    ])
    expect((await server.api('GET', `/deploys/${id}/steps`)).body).toEqual({
      duration_ms: null,
      previous: null,
      steps: [],
    })
  })

  it('have their steps next to those of the last one that went live, whatever their place in the build', async () => {
    const { id: service } = await create({ deploy: false, image: 'busybox:1' })
    const database = databaseOf(server.dataDirectory)
    const step = (id: string, name: string, duration_ms: number, cached = false) => ({
      started_at: '2026-01-02T03:04:05.678Z',
      ...{ id, name, cached, duration_ms, status: 'succeeded' },
    })
    const insert = (number: number, trigger: string, steps: object[] | null, wasLive = 1) =>
      database
        .prepare(
          `INSERT INTO deploys (id, sequence, service_id, status, trigger, source, was_live, steps, created_at, started_at, finished_at)
           VALUES (?, ?, ?, 'deactivated', ?, '{"kind":"image","repo_url":null,"branch":null,"commit":null}', ?, ?, 0, 1000, ?)`,
        )
        .run(
          `dep-0000000000000000${number}`,
          number,
          service,
          trigger,
          wasLive,
          steps && JSON.stringify(steps),
          1_000 + number,
        )
    insert(9001, 'manual', [
      step('build-1', '[1/3] RUN a', 10),
      step('build-2', '[2/3] RUN same', 20),
      step('build-3', '[3/3] RUN same', 30, true),
    ])
    insert(9002, 'restart', [step('start', 'Start instances', 1)])
    insert(9003, 'manual', [step('build-1', '[1/3] RUN a', 99)], 0)
    insert(9004, 'manual', null)
    insert(9005, 'manual', [
      step('build-1', '[1/4] RUN first', 1),
      step('build-2', '[2/4] RUN a', 2),
      step('build-3', '[3/4] RUN same', 3),
      step('build-4', '[4/4] RUN same', 4),
    ])
    database.close()
    const { body } = await server.api('GET', '/deploys/dep-00000000000000009005/steps')
    expect(body).toMatchObject({
      duration_ms: 9_005,
      previous: { deploy_id: 'dep-00000000000000009001', duration_ms: 9_001 },
    })
    expect(body.steps.map(({ previous }: { previous: unknown }) => previous)).toEqual([
      null,
      { duration_ms: 10, cached: false },
      { duration_ms: 20, cached: false },
      { duration_ms: 30, cached: true },
    ])
  })

  it('still wait after a restart of the server', async () => {
    const { latest_deploy } = await create({ image: 'busybox:1' })
    await server.kill('SIGKILL')
    await server.restart()
    expect((await server.api('GET', `/deploys/${latest_deploy!.id}`)).body.status).toBe('queued')
  })
})

describe('the list of deploys', () => {
  let full: string
  beforeAll(async () => {
    full = 'full'
    await server.api('POST', '/services', { name: full, image: 'busybox:1', deploy: false })
    for (let count = 0; count < 25; count++) await server.api('POST', `/services/${full}/deploys`)
  })

  it.each([
    ['', 20],
    ['?limit=1', 1],
    ['?limit=25', 25],
    ['?limit=0', 1],
    ['?limit=-5', 1],
    ['?limit=501', 25],
    ['?limit=999999999999', 25],
    ['?limit=3&environment=production', 3],
  ])('is cut at its limit: %s', async (query, count) => {
    const { body } = await server.api('GET', `/services/${full}/deploys${query}`)
    expect(body).toHaveLength(count)
  })

  it('is newest first', async () => {
    const { body } = await server.api('GET', `/services/${full}/deploys?limit=500`)
    const moments = body.map((entry: { created_at: string }) => entry.created_at)
    expect(moments).toEqual([...moments].sort().reverse())
    expect(body[0].status).toBe('queued')
    expect(body.slice(1).every((entry: { status: string }) => entry.status === 'canceled')).toBe(true)
  })

  it.each([
    'limit=',
    'limit=x',
    'limit=1.5',
    'limit=1e2',
    'limit=0x10',
    'limit=%201',
    'limit=1&limit=2',
    'page=2',
  ])('is refused with %s', async (query) => {
    expect(await server.api('GET', `/services/${full}/deploys?${query}`)).toMatchObject(
      refusal(400, 'invalid_request'),
    )
  })
})

describe('what is saved', () => {
  /** Without an engine no deploy goes live by itself; it has recorded what it took when it was queued. */
  function setLive(id: string): void {
    const database = databaseOf(server.dataDirectory)
    database.prepare("UPDATE deploys SET status = 'live', was_live = 1 WHERE id = ?").run(id)
    database
      .prepare(
        'UPDATE services SET live_deploy_id = ?1 WHERE id = (SELECT service_id FROM deploys WHERE id = ?1)',
      )
      .run(id)
    database.close()
  }

  it('is compared with what is live, shown without credentials, and put back on request', async () => {
    const url = 'https://me:pass-word@git.example.com/x.git'
    await create({ repo_url: url, branch: 'main' })
    const { id } = (await deploys())[0]!
    expect((await server.api('GET', `/services/${name}/changes`)).body).toMatchObject({
      from: null,
      count: 0,
    })
    expect(await server.api('POST', `/services/${name}/changes/discard`)).toMatchObject(
      refusal(409, 'conflict'),
    )
    setLive(id)
    await server.api('PATCH', `/services/${name}`, {
      ...{ repo_url: 'https://me:pass-key@git.example.com/x.git', branch: 'next', instances: 2 },
    })
    const { status, body } = await server.api('GET', `/services/${name}/changes`)
    expect(status).toBe(200)
    const shown = 'https://***@git.example.com/x.git'
    expect(body).toMatchObject({
      ...{ from: { id }, to: null, count: 2, variables: [], secret_files: [], groups: [] },
      settings: [
        { field: 'repo_url', old: shown, new: shown },
        { field: 'branch', old: 'main', new: 'next' },
      ],
    })
    expect(body.unknown).toContain('start_command')
    expect(JSON.stringify(body)).not.toMatch(/pass-/)
    const answer = await server.api('POST', `/services/${name}/changes/discard`, { settings: ['branch'] })
    expect(answer).toMatchObject({ status: 200, body: { discarded: ['branch: next -> main'], kept: [] } })
    const rest = await server.api('POST', `/services/${name}/changes/discard`, {})
    expect(rest.body).toEqual({ discarded: ['repo_url: changed'], kept: [] })
    expect((await server.api('GET', `/services/${name}`)).body).toMatchObject({
      branch: 'main',
      instances: 2,
    })
    expect((await server.api('GET', `/services/${name}/changes`)).body.count).toBe(0)
    const log = await server.api('GET', '/audit-events?action=service.changes_discarded')
    const told = log.body.map(({ resource, changes }: any) => [resource.name, changes]) // oxlint-disable-line no-explicit-any -- tests look freely
    expect(told).toEqual([
      [name, ['repo_url: changed']],
      [name, ['branch: next -> main']],
    ])
  })

  it('of one deploy is compared with that of another of its service, and of no other', async () => {
    const { latest_deploy } = await create({ image: 'busybox:1' })
    const first = latest_deploy!.id
    setLive(first)
    await server.api('PATCH', `/services/${name}`, { image: 'busybox:2' })
    const second = (await server.api('POST', `/services/${name}/deploys`)).body.id as string
    const changed = [{ field: 'image', old: 'busybox:1', new: 'busybox:2' }]
    for (const query of ['', `?with=${first}`])
      expect((await server.api('GET', `/deploys/${second}/compare${query}`)).body).toMatchObject({
        ...{ from: { id: first }, to: { id: second }, count: 1, settings: changed },
      })
    expect((await server.api('GET', `/deploys/${first}/compare`)).body).toMatchObject({
      ...{ from: null, to: { id: first }, count: 0, unknown: [] },
    })
    name = `${name}-other`
    const other = (await create({ image: 'busybox:1' })).latest_deploy!.id
    for (const id of [other, 'dep-00000000000000000000', 'latest'])
      expect(await server.api('GET', `/deploys/${second}/compare?with=${id}`)).toMatchObject(
        refusal(404, 'not_found'),
      )
    for (const query of ['with=', 'with=a&with=b', 'to=x'])
      expect(await server.api('GET', `/deploys/${second}/compare?${query}`)).toMatchObject(
        refusal(400, 'invalid_request'),
      )
  })
})

describe('a rollback', () => {
  it.each([
    ['no deploy', {}, 400],
    ['a number', { deploy_id: 1 }, 400],
    ['a text that is no id', { deploy_id: 'latest' }, 404],
    ['a deploy that does not exist', { deploy_id: 'dep-00000000000000000000' }, 404],
  ])('is refused for %s', async (_, body, status) => {
    await create({ image: 'busybox:1', deploy: false })
    expect((await server.api('POST', `/services/${name}/rollback`, body)).status).toBe(status)
  })

  it('to a deploy of another service is refused as not found', async () => {
    const other = await create({ image: 'busybox:1' })
    name = `${name}-other`
    await create({ image: 'busybox:1', deploy: false })
    const body = { deploy_id: other.latest_deploy!.id }
    expect(await server.api('POST', `/services/${name}/rollback`, body)).toMatchObject(
      refusal(404, 'not_found'),
    )
  })

  it('to a deploy that was never live is refused', async () => {
    const { latest_deploy } = await create({ image: 'busybox:1' })
    const answer = await server.api('POST', `/services/${name}/rollback`, { deploy_id: latest_deploy!.id })
    expect(answer).toMatchObject(refusal(409, 'conflict'))
    expect(answer.body.error.message).toContain('never was live')
  })
})

describe('a rollback to something that is no longer kept', () => {
  it.each([
    ['a repository', { repo_url: REPOSITORY }, 'deploy its commit again'],
    ['an image', { image: 'busybox:1' }, 'deploy its image again'],
  ])('is refused for %s with the way to get it again', async (_, fields, way) => {
    const { id } = (await create(fields)).latest_deploy!
    const database = databaseOf(server.dataDirectory)
    database.prepare('UPDATE deploys SET was_live = 1 WHERE id = ?').run(id)
    database.close()
    const answer = await server.api('POST', `/services/${name}/rollback`, { deploy_id: id })
    expect(answer).toMatchObject(refusal(409, 'conflict'))
    expect(answer.body.error.message).toBe(`what ${id} ran is no longer kept: ${way}`)
  })
})

describe('an uploaded archive', () => {
  const archives = () => readdirSync(join(server.dataDirectory, 'archives'))

  it('is kept and queued as a deploy of its own, and built again by a manual deploy', async () => {
    await create({})
    const uploaded = await server.api('POST', `/services/${name}/deploys/upload`, await archive())
    expect(uploaded).toMatchObject({
      status: 202,
      body: { trigger: 'upload', status: 'queued', source: { kind: 'archive', repo_url: null } },
    })
    expect(existsSync(join(server.dataDirectory, 'archives', `${uploaded.body.id}.tar.gz`))).toBe(true)
    const again = await server.api('POST', `/services/${name}/deploys`)
    expect(again).toMatchObject({ status: 202, body: { trigger: 'manual', source: { kind: 'archive' } } })
  })

  it.each([{ repo_url: REPOSITORY }, { image: 'busybox:1' }])(
    'is refused by a service with %j',
    async (source) => {
      await create({ ...source, deploy: false })
      const before = archives()
      expect(await server.api('POST', `/services/${name}/deploys/upload`, await archive())).toMatchObject(
        refusal(409, 'conflict'),
      )
      expect(await deploys()).toEqual([])
      expect(archives()).toEqual(before)
    },
  )

  it.each(['clear_cache=maybe', 'nonsense=1', 'environment='])(
    'is refused with the query %s',
    async (query) => {
      await create({})
      const answer = await server.api('POST', `/services/${name}/deploys/upload?${query}`, await archive())
      expect(answer).toMatchObject(refusal(400, 'invalid_request'))
      expect(await deploys()).toEqual([])
    },
  )
})

describe('a sample', () => {
  it('is listed with the types that run it, and queued like an upload', async () => {
    const { body: samples } = await server.api('GET', '/samples')
    expect(samples).toMatchObject([
      { name: 'site', types: ['static_site'] },
      { name: 'server', types: ['web_service', 'private_service'] },
    ])
    await create({ type: samples[0].types[0] })
    const deployed = await server.api('POST', `/services/${name}/deploys`, { sample: 'site' })
    expect(deployed).toMatchObject({
      status: 202,
      body: { trigger: 'upload', status: 'queued', source: { kind: 'archive' } },
    })
    const file = join(server.dataDirectory, 'archives', `${deployed.body.id}.tar.gz`)
    const files = execFileSync('tar', ['-tzf', file], { encoding: 'utf8' }).trim().split('\n')
    expect(files).toEqual(['404.html', 'about.html', 'icon.svg', 'index.html', 'style.css'])
  })

  it.each([
    ['another type', {}, { sample: 'site' }, refusal(400, 'invalid_request')],
    ['a name that is none', {}, { sample: '../site' }, refusal(400, 'invalid_request')],
    ['a commit', {}, { sample: 'server', commit: 'abcd' }, refusal(400, 'invalid_request')],
    ['a repository', { repo_url: REPOSITORY, deploy: false }, { sample: 'server' }, refusal(409, 'conflict')],
    ['an image', { image: 'busybox:1', deploy: false }, { sample: 'server' }, refusal(409, 'conflict')],
  ])('is refused with %s', async (_, fields, body, answer) => {
    await create(fields)
    expect(await server.api('POST', `/services/${name}/deploys`, body)).toMatchObject(answer)
    expect(await deploys()).toEqual([])
  })
})

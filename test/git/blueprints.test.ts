import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type ApiAnswer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { PRIVATE_PASSWORD, PRIVATE_USER, Repository, startRemotes, type Remotes } from './remotes.ts'

const SECRET = 'a secret of webhooks'
let remotes: Remotes
let server: TestServer

beforeAll(async () => {
  remotes = await startRemotes()
  server = await startServer({ flags: ['--webhook-secret', SECRET] })
})
afterAll(async () => {
  await server?.stop()
  await remotes?.close()
})

function file(name: string, level: string): string {
  return `services:
  - name: ${name}
    image: registry.example.com/${name}:1
    env:
      - {key: LOG_LEVEL, value: ${level}}
`
}

/** A synced blueprint with its own repository. */
async function synced(
  name: string,
  files: Record<string, string>,
  fields: object = {},
): Promise<{ repository: Repository; url: string; read: () => Promise<ApiAnswer['body']> }> {
  const repository = new Repository(remotes, name)
  repository.push(files)
  const url = `${remotes.http}/${name}.git`
  const { status, body } = await server.api('POST', '/blueprints', { name, repo_url: url, ...fields })
  expect({ status, body }).toMatchObject({ status: 201, body: { name, repo_url: url, last_sync: null } })
  const read = async () => (await server.api('GET', `/blueprints/${name}`)).body
  return { repository, url, read }
}

async function push(url: string, after: string): Promise<ApiAnswer> {
  const body = JSON.stringify({
    ref: 'refs/heads/main',
    after,
    head_commit: { message: 'change' },
    repository: { clone_url: url, default_branch: 'main' },
  })
  const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`
  return server.request('POST', '/hooks/gitprov', body, {
    headers: { 'x-hook-signature-256': signature, 'x-hook-event': 'push' },
  })
}

async function levelOf(service: string): Promise<string | undefined> {
  const { body } = await server.api('GET', `/services/${service}/env`)
  return (body as { key: string; value: string }[]).find(({ key }) => key === 'LOG_LEVEL')?.value
}

describe('a blueprint that is synced from git', () => {
  it('is applied on request, and by a push that changes its file', async () => {
    const { repository, url, read } = await synced('shop', { 'deployer.yaml': file('shop', 'info') })
    const first = await server.api('POST', '/blueprints/shop/sync')
    expect(first).toMatchObject({ status: 200, body: { actions: [{ name: 'shop', action: 'create' }] } })
    expect(await read()).toMatchObject({ last_sync: { status: 'succeeded', error: null } })
    expect((await server.api('POST', '/blueprints/shop/sync')).body.actions).toMatchObject([
      { action: 'unchanged' },
    ])
    expect(await read()).toMatchObject({ last_sync: { status: 'unchanged' } })

    const commit = repository.push({ 'deployer.yaml': file('shop', 'debug') })
    expect(await push(url, commit)).toMatchObject({ status: 200, body: { ok: true, ignored: false } })
    await waitFor(async () => (await read()).last_sync.commit === commit, 'the push to be applied')
    expect(await read()).toMatchObject({
      last_sync: { status: 'succeeded', actions: [{ action: 'update' }] },
    })
    expect(await levelOf('shop')).toBe('debug')
    const [event] = (await server.api('GET', '/audit-events?action=blueprint.synced&limit=1')).body
    expect(event).toMatchObject({
      actor: { kind: 'system' },
      ...{ resource: { name: 'shop' }, changes: ['service shop: env.LOG_LEVEL: changed'] },
    })
  })

  it('keeps variables that were set by hand, unless it may overwrite them', async () => {
    const { repository } = await synced('by-hand', { 'render.yaml': file('by-hand', 'info') })
    await server.api('POST', '/blueprints/by-hand/sync')
    await server.api('PATCH', '/services/by-hand/env', { set: { LOG_LEVEL: 'trace' } })
    repository.push({ 'render.yaml': file('by-hand', 'warn') })
    const kept = await server.api('POST', '/blueprints/by-hand/sync')
    expect(kept.body.warnings).toEqual([
      'line 5: LOG_LEVEL of service by-hand was set by hand and stays as it is',
    ])
    expect(await levelOf('by-hand')).toBe('trace')
    await server.api('PATCH', '/blueprints/by-hand', { overwrite_variables: true })
    await server.api('POST', '/blueprints/by-hand/sync')
    expect(await levelOf('by-hand')).toBe('warn')
  })

  it('does nothing for a push that does not change its file', async () => {
    const { repository, url, read } = await synced('same', { 'deployer.yaml': file('same', 'info') })
    await server.api('POST', '/blueprints/same/sync')
    const { at } = (await read()).last_sync
    await server.api('PATCH', '/services/same', { port: 4000 })
    await push(url, repository.push({ 'README.md': 'other' }))
    const commit = repository.push({
      'deployer.yaml': file('same', 'info').replace('env:', 'port: 5000\n    env:'),
    })
    expect((await read()).last_sync.at).toBe(at)
    await push(url, commit)
    await waitFor(async () => (await read()).last_sync.commit === commit, 'the second push to be applied')
    expect((await read()).last_sync.actions[0].changes).toEqual(['port: 4000 -> 5000'])
  })

  it('recovers once a push fixes an error in its file', async () => {
    const good = file('mended', 'info')
    const { repository, url, read } = await synced('mended', { 'deployer.yaml': good })
    await server.api('POST', '/blueprints/mended/sync')
    await push(url, repository.push({ 'deployer.yaml': 'services:\n  - nam: x\n' }))
    await waitFor(async () => (await read()).last_sync.status === 'failed', 'the fault to be told')
    const commit = repository.push({ 'deployer.yaml': good })
    await push(url, commit)
    await waitFor(async () => (await read()).last_sync.commit === commit, 'the last push to be looked at')
    expect((await read()).last_sync).toMatchObject({ status: 'unchanged', error: null })
  })

  it('is named by a push whose services all accept no deploys now', async () => {
    const { repository, url, read } = await synced('beside', { 'deployer.yaml': file('beside', 'info') })
    const service = { name: 'waiting', repo_url: url, branch: 'main', deploy: false }
    await server.api('POST', '/services', service)
    await server.api('POST', '/services/waiting/suspend')
    const commit = repository.push({ 'README.md': 'other' })
    expect(await push(url, commit)).toMatchObject({
      status: 200,
      body: {
        ok: true,
        ignored: false,
        deploys: [],
        reason: expect.stringMatching(/^blueprint beside is being checked for changes; .*suspended/),
      },
    })
    await waitFor(async () => (await read()).last_sync?.commit === commit, 'the blueprint to be applied')
  })

  it('keeps the errors of its file as its last result', async () => {
    const { read } = await synced(
      'faulty',
      { 'ops/stack.yaml': 'services:\n  - nam: x\n' },
      { path: 'ops/stack.yaml' },
    )
    const answer = await server.api('POST', '/blueprints/faulty/sync')
    expect(answer.status).toBe(400)
    expect(answer.body.error.details).toHaveLength(2)
    expect(await read()).toMatchObject({ last_sync: { status: 'failed', error: answer.body.error.message } })
    const missing = await server.api('PATCH', '/blueprints/faulty', { path: 'nowhere.yaml' })
    expect(missing.status).toBe(200)
    expect((await server.api('POST', '/blueprints/faulty/sync')).body.error.message).toContain(
      'no file nowhere.yaml',
    )
  })

  it('is deployer.yaml even if there is a render.yaml too', async () => {
    await synced('both', { 'deployer.yaml': file('ours', 'info'), 'render.yaml': file('theirs', 'info') })
    const { body } = await server.api('POST', '/blueprints/both/sync')
    expect(body.actions).toMatchObject([{ name: 'ours', action: 'create' }])
  })

  it('changes nothing for a hostile file, and stores why', async () => {
    const { repository, read } = await synced('hostile', { 'deployer.yaml': file('hostile', 'info') })
    await server.api('POST', '/blueprints/hostile/sync')
    const before = await server.api('GET', '/blueprints/export')
    const laughs = Array.from({ length: 30 }, (_, at) => `b${at}: &k${at + 1} [*k${at}, *k${at}]`)
    for (const [text, status] of [
      [['a: &k0 [x, x]', ...laughs].join('\n'), 400],
      ['['.repeat(20_000), 400],
      ['services: &a\n  <<: *a\n', 400],
      ['services:\n  - name: a\n    __proto__: {port: 1}\n', 400],
      ['services: !!js/function x\n', 400],
      ['', 400],
      [`services: []\n#${'x'.repeat(3 * 1024 * 1024)}`, 413],
    ] as const) {
      repository.push({ 'deployer.yaml': text })
      const answer = await server.api('POST', '/blueprints/hostile/sync')
      expect(answer.status).toBe(status)
      if (status === 400) expect(answer.body.error.details.length).toBeGreaterThan(0)
      expect(await read()).toMatchObject({
        last_sync: { status: 'failed', error: answer.body.error.message, actions: [] },
      })
    }
    expect((await server.api('GET', '/blueprints/export')).body).toBe(before.body)
  })

  it('gives services of a render.yaml without a repository its own, with its credentials', async () => {
    const repository = new Repository(remotes, 'own')
    repository.push({ 'render.yaml': 'services:\n  - type: web\n    name: own\n    runtime: docker\n' })
    const { host } = new URL(remotes.privateHttp)
    const url = `http://${PRIVATE_USER}:${encodeURIComponent(PRIVATE_PASSWORD)}@${host}/own.git`
    const made = await server.api('POST', '/blueprints', { name: 'own', repo_url: url, branch: 'main' })
    expect(made.body.repo_url).toBe(`http://***@${host}/own.git`)
    expect((await server.api('POST', '/blueprints/own/sync')).status).toBe(200)
    const { body } = await server.api('GET', '/services/own')
    expect(body).toMatchObject({ repo_url: `http://***@${host}/own.git`, branch: 'main', runtime: 'docker' })
    const again = await server.api('POST', '/blueprints/own/sync')
    expect(again.body.actions).toMatchObject([{ action: 'unchanged' }])
  })

  it('is deleted without what it created', async () => {
    await synced('gone', { 'deployer.yaml': file('gone', 'info') })
    await server.api('POST', '/blueprints/gone/sync')
    expect((await server.api('DELETE', '/blueprints/gone')).status).toBe(204)
    expect((await server.api('GET', '/blueprints/gone')).status).toBe(404)
    expect((await server.api('GET', '/services/gone')).status).toBe(200)
  })
})

describe('the blueprint of a repository', () => {
  it('is read as it is there, and nothing is applied', async () => {
    const repository = new Repository(remotes, 'public')
    const commit = repository.push({ 'render.yaml': file('public', 'info') })
    const url = encodeURIComponent(`${remotes.http}/public.git`)
    const { status, body } = await server.api('GET', `/blueprints/file?repo_url=${url}`)
    expect({ status, body }).toEqual({
      status: 200,
      body: { yaml: file('public', 'info'), path: 'render.yaml', branch: 'main', commit },
    })
    expect((await server.api('GET', '/services/public')).status).toBe(404)
    const nothing = encodeURIComponent(`${remotes.http}/nothing.git`)
    expect((await server.api('GET', `/blueprints/file?repo_url=${nothing}`)).body.error.code).toBe(
      'git_remote_unreachable',
    )
  })
})

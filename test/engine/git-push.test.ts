import { createHmac, randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { git } from '../git/remotes.ts'
import { PlayedProvider, type PlayedApp } from '../git/providers.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { containersOf, docker, endOf } from './live.ts'

const CALLBACK = 'https://dashboard.example.com/git/callback'
const DOCKERFILE = 'FROM busybox:1\nCOPY word /word\nCMD ["sleep", "1000"]\n'

let home: string
let provider: PlayedProvider
let server: TestServer
let app: PlayedApp
let work: string

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'git-push-'))
  work = join(home, 'work')
  const bare = join(home, 'octo-org', 'api.git')
  for (const folder of [bare, work]) mkdirSync(folder, { recursive: true })
  git(bare, 'init', '-q', '--bare', '-b', 'main')
  git(bare, 'config', 'uploadpack.allowFilter', 'true')
  git(bare, 'config', 'uploadpack.allowAnySHA1InWant', 'true')
  git(work, 'init', '-q', '-b', 'main')
  git(work, 'remote', 'add', 'origin', bare)
  commit('first')
  provider = await PlayedProvider.start(home)
  provider.add('octo-org/api', ['octo-org'])
  server = await startServer({ engine: true, flags: ['--dashboard-host', 'dashboard.example.com'] })
  app = await connect()
})
afterAll(async () => {
  await server?.stop()
  await provider?.close()
  rmSync(home, { recursive: true, force: true })
})

/** Commits and pushes a word; returns the commit. */
function commit(word: string, dockerfile = DOCKERFILE): string {
  writeFileSync(join(work, 'word'), word)
  writeFileSync(join(work, 'Dockerfile'), dockerfile)
  git(work, 'add', '-A')
  git(work, 'commit', '-q', '-m', word)
  git(work, 'push', '-q', 'origin', 'main')
  return git(work, 'rev-parse', 'HEAD')
}

/** Connects an app of the fake GitHub, as a browser would. */
async function connect(): Promise<PlayedApp> {
  const begin = {
    provider: 'gitprov_a',
    base_url: provider.url,
    organization: 'octo-org',
    redirect_uri: CALLBACK,
  }
  const begun = await server.api('POST', '/git/authorize', begin)
  const stateOf = (url: string) => new URL(url).searchParams.get('state')
  const code = provider.register(
    JSON.parse(begun.body.fields.manifest) as Record<string, unknown>,
    'octo-org',
  )
  const converted = await server.api('POST', '/git/callback', { state: stateOf(begun.body.url), code })
  const made = [...provider.apps.values()].at(-1)!
  const installation_id = provider.install(made)
  const done = await server.api('POST', '/git/callback', {
    state: stateOf(converted.body.url),
    installation_id,
  })
  expect(done.body).toMatchObject({ status: 'connected' })
  return made
}

/** Delivers a push as GitHub signs it with the app's secret. */
function deliver(after: string) {
  const text = JSON.stringify({
    ref: 'refs/heads/main',
    before: git(work, 'rev-parse', 'HEAD~1'),
    after,
    repository: {
      full_name: 'octo-org/api',
      clone_url: `${provider.url}/octo-org/api.git`,
      default_branch: 'main',
    },
    head_commit: { id: after, message: 'x' },
  })
  const signature = `sha256=${createHmac('sha256', app.webhookSecret!).update(text).digest('hex')}`
  const headers = {
    'content-type': 'application/json',
    'x-github-event': 'push',
    'x-github-delivery': randomUUID(),
    'x-hub-signature-256': signature,
  }
  return server.request('POST', '/hooks/gitprov', text, { headers })
}

async function statusesOf(sha: string, count: number): Promise<unknown[]> {
  const told = () => provider.statuses.filter((status) => status.sha === sha)
  await expect.poll(told).toHaveLength(count)
  return told().map(({ path, body }) => ({ path, ...body }))
}

test('a push to a private repository goes live by itself, and its commit gets statuses', async () => {
  const { body: service } = await server.api('POST', '/services', {
    name: 'api',
    type: 'background_worker',
    repo_url: `${provider.url}/octo-org/api.git`,
    deploy: false,
  })
  const sha = commit('pushed')
  const answer = await deliver(sha)
  expect(answer).toMatchObject({
    status: 200,
    body: { deploys: [{ service_id: service.id, trigger: 'webhook' }] },
  })
  const { id } = answer.body.deploys[0]
  expect(await endOf(server, id)).toMatchObject({
    status: 'live',
    commit_sha: sha,
    commit_message: 'pushed',
    commit_author: git(work, 'log', '-1', '--format=%an'),
  })
  const status = {
    path: 'octo-org/api',
    context: 'deployer/api',
    target_url: expect.stringMatching(
      new RegExp(`^https?://dashboard\\.example\\.com.*/services/${service.id}/deploys/${id}$`),
    ),
  }
  expect(await statusesOf(sha, 2)).toEqual([
    { ...status, state: 'pending', description: 'The deploy is under way' },
    { ...status, state: 'success', description: 'Live' },
  ])
  // The token that it was cloned with is nowhere that a program or a person can see.
  const token = [...app.installations.values()][0]!.token!
  const [container] = await containersOf(service.id)
  const { body: log } = await server.api('GET', `/deploys/${id}/logs`)
  expect(log).toContain('as octo-org')
  const history = await docker(
    'history',
    '--no-trunc',
    await docker('inspect', '--format', '{{.Image}}', container!),
  )
  for (const text of [log, await docker('inspect', container!), history, server.logs])
    expect(text).not.toContain(token)
  expect((await server.api('GET', '/git/connections')).body[0].services).toEqual(['api'])
})

test('a push whose build fails, and a status that is refused, are reported', async () => {
  // The server's token is ended early: what this push needs is requested with another one.
  for (const installation of app.installations.values()) installation.token = null
  const sha = commit('broken', 'FROM busybox:1\nRUN exit 3\n')
  const { body } = await deliver(sha)
  expect(await endOf(server, body.deploys[0].id)).toMatchObject({ status: 'build_failed' })
  expect(await statusesOf(sha, 2)).toMatchObject([{ state: 'pending' }, { state: 'failure' }])
  provider.instead.set('POST /api/v3/repos/octo-org/api/statuses', (response) =>
    response.writeHead(403).end('{"message":"Resource not accessible by integration"}'),
  )
  const next = await deliver(commit('mended'))
  const { id } = next.body.deploys[0]
  expect(await endOf(server, id)).toMatchObject({ status: 'live' })
  const { body: log } = await server.api('GET', `/deploys/${id}/logs`)
  expect(log.split('Resource not accessible by integration')).toHaveLength(2)
})

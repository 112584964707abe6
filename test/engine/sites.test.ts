import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commit, createRepository, startGitHttp, type GitRemote, type Repository } from '../stand/git.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { startClient } from '../cli/client.ts'
import { containersOf, docker, endOf, fetchFrom } from './live.ts'

let server: TestServer
let remote: GitRemote

beforeAll(async () => {
  server = await startServer({ engine: true })
  remote = await startGitHttp()
})
afterAll(async () => {
  await remote?.close()
  await server?.stop()
})

async function create(name: string, repository: Repository, fields: object = {}): Promise<string> {
  const { status, body } = await server.api('POST', '/services', {
    name,
    type: 'static_site',
    repo_url: remote.url(repository),
    ...fields,
  })
  expect({ status, body }).toMatchObject({ status: 201 })
  expect(await endOf(server, body.latest_deploy.id)).toMatchObject({ status: 'live', error: null })
  return body.id as string
}

async function deploy(name: string): Promise<string> {
  const { body } = await server.api('POST', `/services/${name}/deploys`)
  expect(await endOf(server, body.id)).toMatchObject({ status: 'live', error: null })
  return body.id as string
}

test('a folder that is deployed from a terminal is served at the URL that is printed', async () => {
  await server.api('POST', '/services', { name: 'typed', type: 'static_site', publish_dir: 'only' })
  const folder = await mkdtemp(join(tmpdir(), 'typed-'))
  await mkdir(join(folder, 'only'))
  await writeFile(join(folder, 'only/index.html'), 'typed')
  const { code, out, error } = await startClient(server, ['deploy', folder, '--service', 'typed']).ended
  await rm(folder, { recursive: true })
  const { body } = await server.api('GET', '/services/typed')
  expect({ code, out, error }).toMatchObject({ code: 0, out: `${body.url}\n` })
  expect(await fetchFrom(server, 'typed.localhost')).toEqual({ status: 200, text: 'typed' })
})

test('the samples are deployed from a terminal with nothing that is downloaded', async () => {
  const ended = await Promise.all(
    ['site', 'server'].map(
      (name) => startClient(server, ['deploy', '--sample', name, '-s', `my-${name}`, '--create']).ended,
    ),
  )
  expect(ended.map(({ code, error }) => (code === 0 ? '' : error))).toEqual(['', ''])
  expect(ended[1]!.error).not.toContain('pull')
  const { text } = await fetchFrom(server, 'my-site.localhost')
  expect(text).toContain('<h1>It works</h1>')
  expect(await fetchFrom(server, 'my-site.localhost', '/missing')).toMatchObject({ status: 404 })
  expect((await fetchFrom(server, 'my-server.localhost')).text).toMatch(/of the service <code>my-server</)
  expect(await fetchFrom(server, 'my-server.localhost', '/healthz')).toEqual({ status: 200, text: 'ok' })
})

test('a folder of files is served as it is, with its rules, and runs no container', async () => {
  const repository = await createRepository({
    'index.html': '<h1>home</h1>',
    'about.html': 'about',
    '404.html': 'nothing here',
    _redirects: '/old /about 301\n/app/* /index.html 200\n',
    _headers: '/*\n  X-Site: yes\n',
    '.env': 'SECRET=1',
  })
  const id = await create('plain', repository)
  expect(await fetchFrom(server, 'plain.localhost')).toEqual({ status: 200, text: '<h1>home</h1>' })
  expect(await fetchFrom(server, 'plain.localhost', '/about')).toMatchObject({ status: 200, text: 'about' })
  expect(await fetchFrom(server, 'plain.localhost', '/old')).toMatchObject({ status: 301 })
  expect(await fetchFrom(server, 'plain.localhost', '/app/any/where')).toMatchObject({ status: 200 })
  expect(await fetchFrom(server, 'plain.localhost', '/missing')).toEqual({
    status: 404,
    text: 'nothing here',
  })
  for (const hidden of ['/.env', '/.git/config', '/_redirects', '/_headers'])
    expect((await fetchFrom(server, 'plain.localhost', hidden)).status).toBe(404)
  expect(await containersOf(id)).toEqual([])
  const { body } = await server.api('GET', '/services/plain')
  expect(body).toMatchObject({
    state: 'running',
    url: `http://plain.localhost:${server.httpPort}`,
    hosts: ['plain.localhost'],
  })
  expect(body).toMatchObject({ internal_host: null, internal_port: null })
})

test('a built site is copied out of its image, and neither the image nor a container stays', async () => {
  const repository = await createRepository({
    'package.json': JSON.stringify({
      name: 'built',
      private: true,
      scripts: { build: 'mkdir -p out && echo "made $GREETING" > out/index.html' },
    }),
  })
  const id = await create('built', repository, {
    publish_dir: 'out',
    env: [{ key: 'GREETING', value: 'with care' }],
  })
  expect(await fetchFrom(server, 'built.localhost')).toEqual({ status: 200, text: 'made with care\n' })
  expect(await containersOf(id)).toEqual([])
  expect(
    await docker('ps', '-a', '--filter', 'label=deployer.kind=lift', '--format', '{{.Names}}'),
  ).not.toContain('lift')
  expect(await docker('images', '--format', '{{.Repository}}')).not.toContain(id)
})

test('a Dockerfile may build a site', async () => {
  const repository = await createRepository({
    Dockerfile: 'FROM busybox:1\nWORKDIR /site\nRUN mkdir public && echo dockered > public/index.html\n',
  })
  await create('dockered', repository, { runtime: 'docker', publish_dir: 'public' })
  expect(await fetchFrom(server, 'dockered.localhost')).toMatchObject({ status: 200, text: 'dockered\n' })
})

test.each([
  [
    'a link in the published folder',
    { 'public/index.html': 'x', 'public/passwd': { symlink: true, content: '/etc/passwd' } },
    { publish_dir: 'public' },
    /passwd.*link/,
  ],
  ['a folder that is not there', { 'index.html': 'x' }, { publish_dir: 'dist' }, /dist is not a folder/],
])('%s fails the deploy and says so', async (_what, files, fields, error) => {
  const name = `bad-${Math.random().toString(36).slice(2, 8)}`
  const repository = await createRepository(files)
  const { body } = await server.api('POST', '/services', {
    name,
    type: 'static_site',
    repo_url: remote.url(repository),
    ...fields,
  })
  const ended = await endOf(server, body.latest_deploy.id)
  expect(ended.status).toBe('build_failed')
  expect(ended.error).toMatch(error)
})

test('a link that a build left in the published folder fails the deploy', { tags: ['slow'] }, async () => {
  const repository = await createRepository({
    Dockerfile: 'FROM busybox:1\nWORKDIR /site\nRUN mkdir public && ln -s /etc/passwd public/passwd\n',
  })
  const { body } = await server.api('POST', '/services', {
    name: 'linked',
    type: 'static_site',
    runtime: 'docker',
    publish_dir: 'public',
    repo_url: remote.url(repository),
  })
  const ended = await endOf(server, body.latest_deploy.id)
  expect(ended).toMatchObject({ status: 'build_failed' })
  expect(ended.error).toMatch(/"passwd".*link/)
})

test('a deploy switches at once; old assets with hashed names stay, other old files go; a rollback brings them back', async () => {
  const repository = await createRepository({
    'index.html': 'one',
    'old.html': 'old',
    'assets/app-B1cD3fGh.js': 'one()',
  })
  const id = await create('moving', repository)
  const first = (await server.api('GET', '/services/moving')).body.live_deploy_id as string
  const change = { 'index.html': 'two', 'assets/app-Z9yX8wVu.js': 'two()' }
  await commit(repository, { ...change, 'old.html': null, 'assets/app-B1cD3fGh.js': null }, 'second')
  await deploy('moving')
  expect(await fetchFrom(server, 'moving.localhost')).toMatchObject({ text: 'two' })
  expect(await fetchFrom(server, 'moving.localhost', '/assets/app-Z9yX8wVu.js')).toMatchObject({
    text: 'two()',
  })
  expect(await fetchFrom(server, 'moving.localhost', '/assets/app-B1cD3fGh.js')).toMatchObject({
    status: 200,
    text: 'one()',
  })
  expect(await fetchFrom(server, 'moving.localhost', '/old.html')).toMatchObject({ status: 404 })
  const rollback = await server.api('POST', '/services/moving/rollback', { deploy_id: first })
  expect(rollback.status).toBe(202)
  expect(await endOf(server, rollback.body.id)).toMatchObject({ status: 'live' })
  expect(await fetchFrom(server, 'moving.localhost')).toMatchObject({ text: 'one' })
  expect(await fetchFrom(server, 'moving.localhost', '/old.html')).toMatchObject({ text: 'old' })
  const restart = await server.api('POST', '/services/moving/restart')
  expect(await endOf(server, restart.body.id)).toMatchObject({ status: 'live' })
  expect(await fetchFrom(server, 'moving.localhost')).toMatchObject({ text: 'one' })
  expect(await containersOf(id)).toEqual([])
})

test('a suspended site says so, and is back after resume', async () => {
  await create('paused', await createRepository({ 'index.html': 'here' }))
  expect((await server.api('POST', '/services/paused/suspend')).body).toMatchObject({ state: 'suspended' })
  expect((await fetchFrom(server, 'paused.localhost')).status).toBe(503)
  expect((await server.api('POST', '/services/paused/resume')).body).toMatchObject({ state: 'running' })
  expect(await fetchFrom(server, 'paused.localhost')).toMatchObject({ status: 200, text: 'here' })
})

test('an uploaded archive becomes a site, and deleting the service removes its address', async () => {
  const { body } = await server.api('POST', '/services', { name: 'handed', type: 'static_site' })
  const folder = join(server.dataDirectory, 'upload-source')
  await mkdir(folder)
  await writeFile(join(folder, 'index.html'), 'by hand')
  const archive = join(server.dataDirectory, 'upload.tar.gz')
  await promisify(execFile)('tar', ['-czf', archive, '-C', folder, '.'])
  const uploaded = await fetch(`${server.url}/api/v1/services/handed/deploys/upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/gzip' },
    body: await readFile(archive),
  })
  const { id } = (await uploaded.json()) as { id: string }
  expect(await endOf(server, id)).toMatchObject({ status: 'live', error: null })
  expect(await fetchFrom(server, 'handed.localhost')).toMatchObject({ text: 'by hand' })
  expect(await readdir(join(server.dataDirectory, 'sites', id))).toEqual(
    expect.arrayContaining(['files', 'rules.json']),
  )
  expect((await server.api('DELETE', `/services/${body.id}`)).status).toBe(204)
  expect((await fetchFrom(server, 'handed.localhost')).status).toBe(404)
})

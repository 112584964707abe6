import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRepository, startGitHttp, type FileSpec, type GitRemote } from '../stand/git.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { containersOf, endOf, fetchFrom } from './live.ts'

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

interface Made {
  id: string
  deploy: string
}

async function create(name: string, files: Record<string, FileSpec>, fields: object = {}): Promise<Made> {
  const repo_url = remote.url(await createRepository(files))
  const { status, body } = await server.api('POST', '/services', { name, repo_url, ...fields })
  expect({ status, body }).toMatchObject({ status: 201 })
  return { id: body.id as string, deploy: body.latest_deploy.id as string }
}

async function logOf(deploy: string): Promise<string> {
  return (await server.api('GET', `/deploys/${deploy}/logs`)).body as string
}

async function again(name: string, action = 'deploys'): Promise<string> {
  const { status, body } = await server.api('POST', `/services/${name}/${action}`)
  expect({ status, body }).toMatchObject({ status: 202 })
  expect(await endOf(server, body.id)).toMatchObject({ status: 'live', error: null })
  return body.id as string
}

/** A front end whose tool is a package in the tree itself, so that nothing is fetched. */
const FRONT_END = {
  'package.json': JSON.stringify({
    name: 'front',
    private: true,
    scripts: { dev: 'vite', build: 'vite build' },
    devDependencies: { vite: 'file:vite' },
  }),
  'vite/package.json': JSON.stringify({ name: 'vite', version: '7.0.0', bin: { vite: 'cli.js' } }),
  'vite/cli.js': {
    mode: 0o755,
    content: `#!/usr/bin/env node
const { mkdirSync, writeFileSync } = require('node:fs')
mkdirSync('dist', { recursive: true })
writeFileSync('dist/index.html', 'built in the browser')
`,
  },
  'index.html': 'the source',
}
const SERVER = `require('node:http').createServer((_, response) => response.end('a program')).listen(process.env.PORT)`

describe('a web service', () => {
  test('of a front end is served from its files, until it has a start command, and after a rollback', async () => {
    const { id, deploy } = await create('front', { ...FRONT_END, 'server.cjs': SERVER })
    const ended = await endOf(server, deploy)
    expect({ ...ended, log: await logOf(deploy) }).toMatchObject({ status: 'live', error: null })
    const built = { status: 200, text: 'built in the browser' }
    expect(await fetchFrom(server, 'front.localhost')).toEqual(built)
    expect(await fetchFrom(server, 'front.localhost', '/any/route')).toEqual(built)
    expect(await containersOf(id)).toEqual([])
    expect((await server.api('GET', '/services/front')).body).toMatchObject({
      type: 'web_service',
      state: 'running',
      internal_host: null,
      internal_port: null,
    })
    expect((await server.api('GET', '/services/front/status')).body).toMatchObject({
      state: 'running',
      instances: [],
    })
    expect((await server.api('POST', '/services/front/jobs', { command: 'ls' })).status).toBe(409)

    await server.api('POST', '/services/front/scale', { instances: 0 })
    await waitFor(async () => (await fetchFrom(server, 'front.localhost')).status === 503, 'it to be off')
    await server.api('POST', '/services/front/scale', { instances: 2 })
    await again('front', 'restart')
    expect(await fetchFrom(server, 'front.localhost')).toEqual(built)

    await server.api('PATCH', '/services/front', { start_command: 'node server.cjs' })
    await again('front')
    expect(await fetchFrom(server, 'front.localhost')).toEqual({ status: 200, text: 'a program' })
    expect((await containersOf(id)).length).toBe(2)

    const back = await server.api('POST', '/services/front/rollback', { deploy_id: deploy })
    expect(await endOf(server, back.body.id)).toMatchObject({ status: 'live', error: null })
    expect(await fetchFrom(server, 'front.localhost')).toEqual(built)
    await waitFor(async () => (await containersOf(id)).length === 0, 'its program to end')
  })

  test('that consists only of pages is served as it is', async () => {
    const { deploy } = await create('pages', { 'index.html': 'a page' })
    expect(await endOf(server, deploy)).toMatchObject({ status: 'live', error: null })
    expect(await fetchFrom(server, 'pages.localhost')).toEqual({ status: 200, text: 'a page' })
  })
})

test('a Staticfile names the folder of the pages, and says that they route in the browser', async () => {
  const files = { Staticfile: 'root: www\npushstate: enabled\n', 'www/index.html': 'the page', 'x.txt': 'x' }
  const { deploy } = await create('staticfile', files, { type: 'static_site' })
  expect(await endOf(server, deploy)).toMatchObject({ status: 'live', error: null })
  expect(await fetchFrom(server, 'staticfile.localhost', '/some/where')).toEqual({
    status: 200,
    text: 'the page',
  })
  expect((await fetchFrom(server, 'staticfile.localhost', '/x.txt')).text).toBe('the page')
})

test("a Dockerfile next to the folder that is built builds that folder, with the engine's frontend", async () => {
  const fields = { root_dir: 'app', dockerfile_path: '../docker/Dockerfile' }
  const files = {
    'app/index.html': 'of the folder',
    'docker/Dockerfile':
      '# syntax=docker/dockerfile:1\nFROM busybox:1\nCOPY . /www\nCMD exec httpd -f -p $PORT -h /www\n',
  }
  const { deploy } = await create('beside', files, fields)
  expect(await endOf(server, deploy)).toMatchObject({ status: 'live', error: null })
  expect(await fetchFrom(server, 'beside.localhost')).toEqual({ status: 200, text: 'of the folder' })
  expect((await fetchFrom(server, 'beside.localhost', '/.deployer.Dockerfile')).status).toBe(404)
  expect(await logOf(deploy)).toMatch(/the engine's own Dockerfile frontend \(1\.\d+\) instead of/)
})

test("a Dockerfile's image runs as a file for another host says", { tags: ['slow'] }, async () => {
  const { id, deploy } = await create('hosted', {
    'deploy/image.Dockerfile':
      'FROM busybox:1\nRUN mkdir /www && echo other >/www/index.html\nENTRYPOINT ["false"]\n',
    'railway.json': JSON.stringify({
      build: { dockerfilePath: 'deploy/image.Dockerfile' },
      deploy: {
        startCommand: 'echo "told by a file" >/www/index.html; httpd -f -p $PORT -h /www',
        preDeployCommand: 'echo before it goes live',
        healthcheckPath: '/index.html',
      },
    }),
  })
  expect(await endOf(server, deploy)).toMatchObject({ status: 'live', error: null })
  expect(await fetchFrom(server, 'hosted.localhost')).toEqual({ status: 200, text: 'told by a file\n' })
  expect(await logOf(deploy)).toMatch(/starting as railway.json says[^]*before it goes live/)
  expect((await containersOf(id)).length).toBe(1)
  await server.api('PATCH', '/services/hosted', { start_command: 'httpd -f -p $PORT -h /www' })
  await again('hosted')
  expect((await fetchFrom(server, 'hosted.localhost')).text).toBe('other\n')
})

test(
  "nixpacks.toml's commands build and start a node program, which installs nothing a second time",
  { tags: ['slow'] },
  async () => {
    const { deploy } = await create(
      'phases',
      {
        'package.json': JSON.stringify({ name: 'phases', scripts: { build: 'cp made.txt built.txt' } }),
        'made.txt': 'built',
        'main.cjs': `const text = require('node:fs').readFileSync('built.txt', 'utf8') + process.env.GREETING
require('node:http').createServer((_, response) => response.end(text)).listen(process.env.PORT)`,
        'nixpacks.toml':
          '[variables]\nGREETING = \' of "$5" \\ x\'\n[phases.build]\ncmds = ["npm install --no-fund", "...", "cd / && true", "echo more >>built.txt"]\n[start]\ncmd = "node main.cjs"\n',
      },
      { runtime: 'node' },
    )
    expect({ ...(await endOf(server, deploy)), log: await logOf(deploy) }).toMatchObject({ status: 'live' })
    expect((await fetchFrom(server, 'phases.localhost')).text).toBe('builtmore\n of "$5" \\ x')
  },
)

test('a type that cannot be right is reported before anything is built', { tags: ['slow'] }, async () => {
  const { deploy } = await create('inside', FRONT_END, { type: 'private_service' })
  expect(await endOf(server, deploy)).toMatchObject({
    status: 'build_failed',
    error:
      'this is a static site (vite builds to dist): change its type to static_site, or give a start command',
  })
  expect(await logOf(deploy)).not.toContain('RUN ')
})

test('a folder without a page for / fails the deploy and says what is there, unless its rules answer it', async () => {
  const files = { 'notes.txt': 'x', 'img/a.txt': 'x' }
  const { deploy } = await create('paperless', files, { type: 'static_site' })
  const { status, error } = await endOf(server, deploy)
  expect({ status, error }).toEqual({
    status: 'deploy_failed',
    error: expect.stringMatching(/there is no index.html.*img\/, notes.txt.*publish_dir/),
  })
  const ruled = await create('ruled', { ...files, _redirects: '/ /notes.txt 200\n' }, { type: 'static_site' })
  expect(await endOf(server, ruled.deploy)).toMatchObject({ status: 'live', error: null })
  expect(await fetchFrom(server, 'ruled.localhost')).toMatchObject({ status: 200, text: 'x' })
})

test(
  'a value that a program needs is generated once, kept as a variable and reported',
  { tags: ['slow'] },
  async () => {
    // Its base image does not exist: values are generated before a build.
    const rails = {
      Gemfile: 'source "https://rubygems.org"\ngem "rails"\n',
      'config/application.rb': 'module Shop\nend\n',
      'config.ru': 'run Rails.application\n',
      '.ruby-version': '3.4.9\n',
    }
    const { deploy } = await create('cookies', rails, { env: [{ key: 'RAILS_MAX_THREADS', value: '3' }] })
    await endOf(server, deploy)
    const read = async () =>
      (await server.api('GET', '/services/cookies/env')).body as { key: string; value: string }[]
    const made = (await read()).find(({ key }) => key === 'SECRET_KEY_BASE')
    expect(made?.value).toMatch(/^[0-9a-f]{128}$/)
    expect(await read()).toContainEqual({ key: 'RAILS_MAX_THREADS', value: '3' })
    expect(await logOf(deploy)).toContain(
      'generated SECRET_KEY_BASE and stored it as a variable of the service',
    )
    const next = await server.api('POST', '/services/cookies/deploys')
    await endOf(server, next.body.id)
    expect((await read()).find(({ key }) => key === 'SECRET_KEY_BASE')).toEqual(made)
  },
)

test(
  'a deploy that waits for a build says so with its place, and files that need no build do not wait',
  { tags: ['slow'] },
  async () => {
    const seconds = 900 + randomInt(90)
    const slow = await create('slow', { Dockerfile: `FROM busybox:1\nRUN sleep ${seconds}\n` })
    await waitFor(async () => (await logOf(slow.deploy))?.includes(`sleep ${seconds}`), 'the build')
    const first = await create('first', { Dockerfile: 'FROM busybox:1\n' })
    const said = 'waiting for a build slot: place 1 in the queue; 1 build is running'
    await waitFor(async () => (await logOf(first.deploy))?.includes(said), 'the place in the log')
    expect((await server.api('GET', `/deploys/${first.deploy}`)).body).toMatchObject({
      status: 'queued',
      started_at: null,
    })
    const second = await create('second', { Dockerfile: 'FROM busybox:1\n' })
    await waitFor(
      async () => (await logOf(second.deploy))?.includes('place 2 in the queue'),
      'the second place',
    )
    const plain = await create('plain', { 'index.html': 'at once' }, { type: 'static_site' })
    expect(await endOf(server, plain.deploy)).toMatchObject({ status: 'live', error: null })
    await server.api('POST', `/deploys/${first.deploy}/cancel`)
    await waitFor(
      async () => (await logOf(second.deploy)).includes('place 1 in the queue'),
      'the first place',
    )
    const next = await server.api('POST', '/services/slow/deploys')
    const behind = `waiting for ${slow.deploy} of this service to finish`
    await waitFor(async () => (await logOf(next.body.id))?.includes(behind), 'what it waits for')
    for (const deploy of [next.body.id as string, second.deploy, slow.deploy])
      await server.api('POST', `/deploys/${deploy}/cancel`)
  },
)

test("the error of a failed build ends with its program's last output", async () => {
  const { deploy } = await create('broken', {
    Dockerfile:
      'FROM busybox:1\nRUN exec >&2; echo one; echo "the reason is here"; for word in "Usage:" "npm ci" "Options:"; do echo "npm error $word"; done; exit 3\n',
  })
  expect(await endOf(server, deploy)).toMatchObject({
    status: 'build_failed',
    error: expect.stringMatching(/exit code 3\none\nthe reason is here$/),
  })
})

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commit, createRepository, startGitHttp, type GitRemote } from '../stand/git.ts'
import { startServer, type ApiAnswer, type TestServer } from '../support/server.ts'
import { refusal } from './account-client.ts'

let server: TestServer
let remote: GitRemote

beforeAll(async () => {
  server = await startServer()
  remote = await startGitHttp()
})
afterAll(async () => {
  await remote?.close()
  await server?.stop()
})

type EntryHeader = Parameters<ReturnType<typeof pack>['entry']>[0]
type Files = Record<string, string | Buffer | object>

async function archiveOf(files: Files, links: EntryHeader[] = []): Promise<Buffer> {
  const tar = pack()
  for (const [name, content] of Object.entries(files)) {
    const isBytes = typeof content === 'string' || Buffer.isBuffer(content)
    tar.entry({ name }, isBytes ? content : JSON.stringify(content))
  }
  for (const link of links) tar.entry(link)
  tar.finalize()
  return gzipSync(await buffer(tar))
}

async function detect(files: Files, query = ''): Promise<ApiAnswer> {
  return await server.api('POST', `/detect${query}`, await archiveOf(files), {
    headers: { 'content-type': 'application/gzip' },
  })
}

/** What is left of sources that were looked at. */
function left(): string[] {
  const { dataDirectory } = server
  return [
    ...readdirSync(join(dataDirectory, 'checkouts')),
    ...readdirSync(join(dataDirectory, 'archives')).filter((name) => name.startsWith('detect-')),
  ]
}

const EXPRESS = {
  'package.json': {
    scripts: { start: 'node server.js' },
    dependencies: { express: '5' },
    engines: { node: '22' },
  },
  'package-lock.json': { lockfileVersion: 3 },
  'server.js': '',
}

describe('detection', () => {
  it('answers every documented field', async () => {
    const { status, body } = await detect(EXPRESS)
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual([
      'type',
      'runtime',
      'framework',
      'version',
      'package_manager',
      'install_command',
      'build_command',
      'start_command',
      'pre_deploy_command',
      'publish_dir',
      'port',
      'health_check_path',
      'env',
      'apt_packages',
      'root_dirs',
      'notes',
    ])
    expect(body).toMatchObject({
      type: 'web_service',
      runtime: 'node',
      version: '22',
      package_manager: 'npm',
      build_command: null,
      start_command: 'node server.js',
      publish_dir: null,
      port: null,
      env: [],
      apt_packages: [],
      root_dirs: [],
    })
    expect(body.install_command).toMatch(/^npm ci/)
    expect(body.notes.length).toBeGreaterThan(0)
  })

  it('reads a repository of its branch and folder, and keeps nothing of it', async () => {
    const repository = await createRepository({ 'README.md': '' })
    await commit(
      repository,
      { 'apps/api/go.mod': 'module x\n\ngo 1.24\n', 'apps/api/main.go': 'package main\n' },
      'go',
    )
    const { status, body } = await server.api('POST', '/detect', {
      repo_url: remote.url(repository),
      branch: 'main',
      root_dir: 'apps/api',
    })
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        type: 'web_service',
        runtime: 'go',
        version: '1.24',
        build_command: expect.stringMatching(/^go build /),
      },
    })
    expect(left()).toEqual([])
    expect((await server.api('GET', '/services')).body).toEqual([])
  })

  it.each<[string, Files, string, object]>([
    [
      'a Dockerfile before any language, with the port that it exposes',
      { ...EXPRESS, Dockerfile: 'FROM node AS build\nEXPOSE 1\nFROM scratch\nEXPOSE 8080/tcp 53/udp\n' },
      '',
      { type: 'web_service', runtime: 'docker', port: 8080, start_command: null },
    ],
    [
      'pages as they are',
      { 'index.html': '' },
      '',
      { type: 'static_site', runtime: 'static', publish_dir: '.', start_command: null, build_command: null },
    ],
    [
      'pages in public/',
      { 'public/index.html': '', 'README.md': '' },
      '',
      { type: 'static_site', runtime: 'static', publish_dir: 'public' },
    ],
    [
      'a front end',
      {
        'package.json': { scripts: { build: 'vite build' }, devDependencies: { vite: '7' } },
        'index.html': '',
      },
      '',
      { type: 'static_site', runtime: 'node', framework: 'vite', publish_dir: 'dist', start_command: null },
    ],
    [
      'a front end that is to be a web service',
      {
        'package.json': { scripts: { build: 'vite build' }, devDependencies: { vite: '7' } },
        'index.html': '',
      },
      '?type=web_service',
      { type: 'web_service', publish_dir: 'dist', start_command: null },
    ],
    [
      'a worker by its Procfile, and what runs before it goes live',
      { ...EXPRESS, Procfile: 'worker: node worker.js\nrelease: node migrate.js\n' },
      '',
      {
        type: 'background_worker',
        start_command: 'node worker.js',
        pre_deploy_command: 'node migrate.js',
      },
    ],
    [
      'a bot, which listens on no port',
      { 'requirements.txt': 'discord.py\n', 'main.py': 'import discord\n' },
      '',
      { type: 'background_worker', runtime: 'python', start_command: 'python main.py' },
    ],
    [
      'a bot that was asked for as a web service',
      { 'requirements.txt': 'discord.py\n', 'main.py': 'import discord\n' },
      '?type=web_service',
      {
        type: 'web_service',
        notes: expect.arrayContaining([expect.stringContaining('make it a background_worker')]),
      },
    ],
    [
      'a bot with a Dockerfile that speaks of no port',
      { 'requirements.txt': 'discord.py\n', 'main.py': '', Dockerfile: 'FROM python:3.13\nCOPY . .\n' },
      '',
      {
        type: 'background_worker',
        runtime: 'docker',
        notes: expect.arrayContaining([
          'Dockerfile exposes no port, and its packages are those of a bot: a background_worker',
        ]),
      },
    ],
    [
      'a web service with a Dockerfile that exposes a port, whatever bot is among its packages',
      { 'requirements.txt': 'discord.py\n', 'main.py': '', Dockerfile: 'FROM python:3.13\nEXPOSE 8000\n' },
      '',
      { type: 'web_service', runtime: 'docker', port: 8000 },
    ],
    [
      'the folder that a Staticfile names',
      { Staticfile: 'root: dist\npushstate: enabled\n', 'dist/index.html': '' },
      '',
      { type: 'static_site', runtime: 'static', publish_dir: 'dist' },
    ],
    [
      "the folder that Heroku's static.json names",
      { 'static.json': { root: 'www/' }, 'www/index.html': '' },
      '',
      { type: 'static_site', runtime: 'static', publish_dir: 'www' },
    ],
    [
      'pages beside a script of their developers',
      { 'index.html': '', 'start.sh': 'npx serve' },
      '',
      { type: 'static_site', runtime: 'static', publish_dir: '.' },
    ],
    [
      'pages beside programs of Python that only help to make them',
      {
        'index.html': '',
        'requirements.txt': 'requests\ndiscord.py\nfastapi\n',
        'scraper.py': 'if __name__ == "__main__":\n    pass\n',
        'src/shop/main.py': 'app = FastAPI()\n',
        'docs/conf.py': "project = 'x'\n",
      },
      '',
      { type: 'static_site', runtime: 'static', publish_dir: '.' },
    ],
    [
      'folders that could be meant, of pages too',
      { 'api/go.mod': 'module x\n', 'site/index.html': '' },
      '',
      {
        runtime: null,
        root_dirs: ['api', 'site'],
        notes: [expect.stringContaining('set root_dir to one of api (go), site (static)')],
      },
    ],
    [
      'folders below one for programs, from the root of the source',
      {
        'README.md': '',
        'shop/apps/web/index.html': '',
        'shop/apps/api/go.mod': 'module x\n',
        'shop/docs/a.md': '',
      },
      '?root_dir=shop',
      { runtime: null, root_dirs: ['shop/apps/api', 'shop/apps/web'] },
    ],
    [
      'programs before libraries, documentation and what others wrote',
      {
        'README.md': '',
        'apps/web/index.html': '',
        'docs/requirements.txt': 'sphinx\n',
        'node_modules/x/package.json': { name: 'x' },
        'packages/api/package.json': { scripts: { start: 'node a.js' } },
        'packages/ui/package.json': { name: 'ui' },
        'vendor/x/go.mod': 'module x\n',
      },
      '',
      { runtime: null, root_dirs: ['apps/web', 'packages/api'] },
    ],
    [
      'a job, which says itself what it runs',
      { 'package.json': { devDependencies: { prettier: '3' } }, 'api/go.mod': 'module x\n' },
      '?type=cron_job',
      { runtime: 'node', root_dirs: [] },
    ],
    [
      'folders two levels down, where there are none above',
      { 'README.md': '', 'team/shop/composer.json': {}, 'team/shop/public/index.php': '' },
      '',
      { runtime: null, root_dirs: ['team/shop'] },
    ],
    [
      'folders beside others that hold programs a level below',
      {
        'web/package.json': EXPRESS['package.json'],
        'python/api/main.py': '',
        'python/docs/main.py': '',
        'tests/unit/main.py': '',
      },
      '',
      { runtime: null, root_dirs: ['web', 'python/api'] },
    ],
    [
      'programs of a workspace that could be meant',
      {
        'package.json': { workspaces: ['apps/*'] },
        'apps/a/package.json': { name: 'a', scripts: { start: 'node a.js' } },
        'apps/b/package.json': { name: 'b', scripts: { start: 'node b.js' } },
      },
      '',
      { runtime: 'node', root_dirs: ['apps/a', 'apps/b'], start_command: null },
    ],
    [
      "a Dockerfile that railway.json names, with that file's commands",
      {
        'deploy/app.Dockerfile': 'FROM busybox\n',
        'railway.json': {
          build: { builder: 'DOCKERFILE', dockerfilePath: '/deploy/app.Dockerfile', buildCommand: 'make' },
          deploy: { startCommand: 'serve --here', preDeployCommand: 'migrate', healthcheckPath: '/up' },
        },
      },
      '',
      {
        runtime: 'docker',
        build_command: null,
        start_command: 'serve --here',
        pre_deploy_command: 'migrate',
        health_check_path: '/up',
        notes: expect.arrayContaining([
          'building with deploy/app.Dockerfile',
          'starting as railway.json says: serve --here',
        ]),
      },
    ],
    [
      'a Dockerfile whose image has no shell, with a command that wants none',
      {
        Dockerfile:
          'FROM golang AS build\nFROM gcr.io/distroless/static:nonroot AS run\nFROM run\nCOPY --from=build /app /app\n',
        'railway.json': { deploy: { startCommand: '/app serve --all', preDeployCommand: 'migrate || true' } },
      },
      '',
      {
        runtime: 'docker',
        start_command: 'exec /app serve --all',
        pre_deploy_command: null,
        notes: expect.arrayContaining([
          'starting as railway.json says: exec /app serve --all',
          'railway.json says: migrate || true: it is left aside, it wants a shell, which gcr.io/distroless/static:nonroot lacks',
        ]),
      },
    ],
    ...[
      'COPY --from=build / /',
      'COPY --from=build \\\n  / /',
      'COPY --from=build /bin/sh /bin/sh',
      'COPY ["/rootfs", "/"]',
      'ADD rootfs.tar.gz .',
      'COPY x y\nRUN x',
    ].map((line): [string, Files, string, object] => [
      `a Dockerfile that may have a shell by ${JSON.stringify(line)}`,
      {
        Dockerfile: `FROM busybox AS build\nFROM scratch\n${line}\n`,
        'railway.json': { deploy: { startCommand: 'serve $PORT' } },
      },
      '',
      { runtime: 'docker', start_command: 'serve $PORT' },
    ]),
    [
      'pages beside a framework that builds none',
      { Gemfile: 'gem "sinatra"\n', 'index.html': '' },
      '',
      { type: 'static_site', runtime: 'static', publish_dir: '.' },
    ],
    [
      'pages beside packages of a framework that no script builds with',
      { 'package.json': { devDependencies: { '@angular/core': '*' } }, 'index.html': '' },
      '',
      { type: 'static_site', runtime: 'static', publish_dir: '.' },
    ],
    [
      'programs of Java with a page beside them as programs',
      {
        'settings.gradle': "include 'one', 'two'\n",
        'one/build.gradle': "plugins { id 'org.springframework.boot' }\n",
        'two/build.gradle': "plugins { id 'org.springframework.boot' }\n",
        'index.html': '',
      },
      '',
      { type: 'web_service', runtime: 'java' },
    ],
    [
      'pages beside a book',
      { 'book.toml': '[book]\n', 'src/SUMMARY.md': '', 'index.html': '' },
      '',
      { type: 'static_site', runtime: 'static', publish_dir: '.' },
    ],
    [
      'the source of a framework as none to publish, whatever page lies in it',
      {
        'package.json': {
          scripts: { build: 'shopify hydrogen build' },
          dependencies: { '@shopify/hydrogen': '^1' },
          devDependencies: { vite: '*' },
        },
        'index.html': '',
      },
      '',
      { type: 'web_service', framework: 'hydrogen', publish_dir: null },
    ],
    [
      'its own Dockerfile, whatever the builder and the Dockerfiles of others are',
      {
        Dockerfile: 'FROM busybox\n',
        'backend/Dockerfile': 'FROM scratch\n',
        'heroku.yml': 'build:\n  docker:\n    web: backend/Dockerfile\nrun:\n  web: bin/server\n',
        'railway.json': { build: { builder: 'NIXPACKS' }, deploy: { startCommand: 'npm run theirs' } },
      },
      '',
      {
        runtime: 'docker',
        start_command: null,
        notes: expect.arrayContaining([
          'building with Dockerfile',
          'heroku.yml builds backend/Dockerfile: set root_dir to its folder for that',
          expect.stringContaining('npm run theirs'),
        ]),
      },
    ],
    [
      'a Dockerfile with the port of fly.toml, without its commands, which are for an entrypoint',
      {
        Dockerfile: 'FROM busybox\n',
        'fly.toml':
          '[processes]\napp = "bin/server"\nworker = "bin/work"\n[deploy]\nrelease_command = "bin/migrate"\n[env]\nSITE_URL = "https://x.fly.dev"\n[[services]]\ninternal_port = 4000\n[[services.http_checks]]\npath = "/ping"\n',
      },
      '',
      {
        runtime: 'docker',
        start_command: null,
        pre_deploy_command: null,
        port: 4000,
        health_check_path: '/ping',
        env: [{ key: 'SITE_URL', generate: false, why: 'fly.toml sets it for its own host' }],
      },
    ],
    [
      'nothing',
      { 'README.md': '' },
      '',
      {
        type: 'web_service',
        runtime: null,
        notes: [expect.stringContaining('no way to build this source was found')],
      },
    ],
    [
      'the type that was asked for, although it cannot be right',
      {
        'package.json': { scripts: { build: 'vite build' }, devDependencies: { vite: '7' } },
        'index.html': '',
      },
      '?type=private_service',
      {
        type: 'private_service',
        notes: expect.arrayContaining([
          'this is a static site (vite builds to dist): change its type to static_site, or give a start command',
        ]),
      },
    ],
    [
      'the same of a worker',
      {
        'package.json': { scripts: { build: 'vite build' }, devDependencies: { vite: '7' } },
        'index.html': '',
      },
      '?type=background_worker',
      {
        type: 'background_worker',
        notes: expect.arrayContaining([
          'this is a static site (vite builds to dist): change its type to static_site, or give a start command',
        ]),
      },
    ],
    [
      'a server that was to be a site',
      EXPRESS,
      '?type=static_site',
      {
        type: 'static_site',
        notes: expect.arrayContaining([expect.stringMatching(/no static site.*web_service/)]),
      },
    ],
  ])('finds %s', async (_what, files, query, found) => {
    expect(await detect(files, query)).toMatchObject({ status: 200, body: found })
  })

  it('says what is wrong with a hint, an address or a source', async () => {
    const answers: [ApiAnswer, string][] = [
      [await server.api('POST', '/detect', { repo_url: 'file:///etc' }), 'repo_url: '],
      [await server.api('POST', '/detect', { repo_url: 'https://x.test/r', kind: 1 }), 'kind: unknown field'],
      [
        await server.api('POST', '/detect?type=web_service', { repo_url: 'https://x.test/r' }),
        'type: stands in the body',
      ],
      [await server.api('POST', '/detect', {}), 'repo_url: is required'],
      [await detect(EXPRESS, '?type=function'), 'type: '],
      [await detect(EXPRESS, '?runtime=image'), 'runtime: '],
      [await detect(EXPRESS, '?root_dir=../x'), 'root_dir: '],
      [await detect(EXPRESS, '?root_dir=missing'), 'root_dir missing is no folder'],
      [await detect(EXPRESS, '?runtime=go'), 'there is no go.mod'],
      [await detect({ 'package.json': '[]' }), 'package.json'],
      [await detect({ 'package.json': '{', 'index.js': '' }), 'package.json'],
      [await server.api('POST', '/detect', Buffer.from('no archive')), ''],
    ]
    for (const [answer, message] of answers) {
      expect(answer).toMatchObject(refusal(400, 'invalid_request'))
      expect(answer.body.error.message).toContain(message)
    }
    expect(left()).toEqual([])
  })

  it('knows JSON and an archive apart when no type is named', async () => {
    const repository = await createRepository({ 'index.html': '' })
    const body = JSON.stringify({ repo_url: remote.url(repository) })
    const found = { status: 200, body: { runtime: 'static' } }
    // Bytes are sent without a type.
    expect(await server.api('POST', '/detect', Buffer.from(body))).toMatchObject(found)
    expect(await server.api('POST', '/detect', await archiveOf({ 'index.html': '' }))).toMatchObject(found)
    const empty = await server.api('POST', '/detect')
    expect(empty).toMatchObject(refusal(400, 'invalid_request'))
    expect(empty.body.error.message).toContain('repo_url: is required')
    const large = Buffer.alloc(2 * 1024 * 1024 + 1, ' ')
    expect(await server.api('POST', '/detect', large)).toMatchObject(refusal(413, 'payload_too_large'))
    expect(left()).toEqual([])
  })

  it('says that a remote cannot be read', async () => {
    const repo_url = remote.url({ path: '', name: 'missing.git' })
    expect(await server.api('POST', '/detect', { repo_url })).toMatchObject(
      refusal(502, 'git_remote_unreachable'),
    )
    const repository = await createRepository({ 'index.html': '' })
    const answer = await server.api('POST', '/detect', { repo_url: remote.url(repository), branch: 'gone' })
    expect(answer).toMatchObject(refusal(400, 'invalid_request'))
    expect(answer.body.error.message).toContain('has no branch gone')
  })

  it.each<[string, () => Promise<Buffer>]>([
    [
      'fifty manifests of every language',
      () =>
        archiveOf(
          Object.fromEntries(
            [
              'package.json',
              'go.mod',
              'Gemfile',
              'composer.json',
              'Cargo.toml',
              'mix.exs',
              'pom.xml',
              'deno.json',
              'requirements.txt',
              'pyproject.toml',
            ].flatMap((name) => ['', 'a/', 'b/', 'c/', 'd/'].map((folder) => [`${folder}${name}`, '{}'])),
          ),
        ),
    ],
    [
      'a lock file of 10 MiB',
      () => archiveOf({ ...EXPRESS, 'package-lock.json': `{"a":"${'x'.repeat(10 * 1024 ** 2)}"}` }),
    ],
    ['a manifest of 10 MiB', () => archiveOf({ 'package.json': `{"a":"${'x'.repeat(10 * 1024 ** 2)}"}` })],
    [
      'a manifest that is no UTF-8',
      () => archiveOf({ 'package.json': Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x7d]) }),
    ],
    ['a manifest that is nested 100,000 deep', () => archiveOf({ 'package.json': '['.repeat(100_000) })],
    [
      'links in a circle and out of the tree',
      () =>
        archiveOf({ 'README.md': '' }, [
          { name: 'package.json', type: 'symlink', linkname: 'package.json' },
          { name: 'go.mod', type: 'symlink', linkname: 'README.md' },
          { name: 'Procfile', type: 'symlink', linkname: '.' },
        ]),
    ],
    [
      'scripts that are no texts',
      () =>
        archiveOf({
          'package.json': { scripts: { start: [], build: 1 }, dependencies: [], engines: 'x', main: {} },
        }),
    ],
  ])('takes %s: an answer or a refusal, in time', async (_what, archive) => {
    const { status, body } = await server.api('POST', '/detect', await archive(), {
      headers: { 'content-type': 'application/gzip' },
    })
    expect([200, 400]).toContain(status)
    if (status === 400) expect(body.error.code).toBe('invalid_request')
    expect((await server.api('GET', '/services')).status).toBe(200)
    expect(left()).toEqual([])
  })
})

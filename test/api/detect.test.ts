import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commit, createRepository, startGitHttp, type GitRemote } from '../stand/git.ts'
import { startServer, type ApiAnswer, type TestServer } from '../support/server.ts'
import { refusal } from './account-client.ts'
import { archiveOf, detect, EXPRESS } from './detect-client.ts'

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

/** What is left of sources that were inspected. */
function left(): string[] {
  const { dataDirectory } = server
  return [
    ...readdirSync(join(dataDirectory, 'checkouts')),
    ...readdirSync(join(dataDirectory, 'archives')).filter((name) => name.startsWith('detect-')),
  ]
}

describe('detection', () => {
  it('returns every documented field', async () => {
    const { status, body } = await detect(server, EXPRESS)
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

  it('names the files of an archive that are stored in Git LFS', async () => {
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'ab'.repeat(32)}\nsize 4096\n`
    const { status, body } = await detect(server, { ...EXPRESS, 'public/logo.png': pointer })
    expect(status).toBe(200)
    expect(body).toMatchObject({ runtime: 'node', start_command: 'node server.js' })
    expect(body.notes[0]).toBe(
      'the archive has Git LFS pointers instead of files (public/logo.png): run "git lfs pull" before you pack it',
    )
  })

  it('says what is wrong with an option, an address or a source', async () => {
    const answers: [ApiAnswer, string][] = [
      [await server.api('POST', '/detect', { repo_url: 'file:///etc' }), 'repo_url: '],
      [await server.api('POST', '/detect', { repo_url: 'https://x.test/r', kind: 1 }), 'kind: unknown field'],
      [
        await server.api('POST', '/detect?type=web_service', { repo_url: 'https://x.test/r' }),
        'type: belongs in the body',
      ],
      [await server.api('POST', '/detect', {}), 'repo_url: is required'],
      [await detect(server, EXPRESS, '?type=function'), 'type: '],
      [await detect(server, EXPRESS, '?runtime=image'), 'runtime: '],
      [await detect(server, EXPRESS, '?root_dir=../x'), 'root_dir: '],
      [await detect(server, EXPRESS, '?root_dir=missing'), 'root_dir missing is not a folder'],
      [await detect(server, EXPRESS, '?runtime=go'), 'there is no go.mod'],
      [await detect(server, { 'package.json': '[]' }), 'package.json'],
      [await detect(server, { 'package.json': '{', 'index.js': '' }), 'package.json'],
      [await server.api('POST', '/detect', Buffer.from('no archive')), ''],
    ]
    for (const [answer, message] of answers) {
      expect(answer).toMatchObject(refusal(400, 'invalid_request'))
      expect(answer.body.error.message).toContain(message)
    }
    expect(left()).toEqual([])
  })

  it('distinguishes JSON and an archive if no type is given', async () => {
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
      'a manifest that is not UTF-8',
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
      'scripts that are not text',
      () =>
        archiveOf({
          'package.json': { scripts: { start: [], build: 1 }, dependencies: [], engines: 'x', main: {} },
        }),
    ],
  ])('handles %s: an answer or a refusal, in time', async (_what, archive) => {
    const { status, body } = await server.api('POST', '/detect', await archive(), {
      headers: { 'content-type': 'application/gzip' },
    })
    expect([200, 400]).toContain(status)
    if (status === 400) expect(body.error.code).toBe('invalid_request')
    expect((await server.api('GET', '/services')).status).toBe(200)
    expect(left()).toEqual([])
  })
})

import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openCuttingProxy } from '../support/cutting-proxy.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { linesOf, startClient, type ClientOptions, type Outcome, type Running } from './client.ts'
import { onTerminal } from './terminal.ts'

/** More than what two sockets and their programs keep of it on its way. */
const LARGE_BYTES = 40 * 1024 * 1024
const HELD_AFTER_BYTES = 1024 * 1024

let server: TestServer
/** A folder of its own for each test. */
let folder: string
let made = 0
let name: string

// Without an engine, deploys wait.
beforeAll(async () => void (server = await startServer()))
afterAll(() => server?.stop())
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deploy-'))
  name = `app-${++made}`
  return () => rmSync(folder, { recursive: true, force: true })
})

function write(files: Record<string, string | Buffer>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}

function start(words: string[], options: ClientOptions & { url?: string } = {}): Running {
  const { url = server.url, ...rest } = options
  return startClient({ url, token: server.token }, ['deploy', ...words], { cwd: folder, ...rest })
}

function deploy(...words: string[]): Promise<Outcome> {
  return start(words).ended
}

async function createService(settings: object = {}): Promise<void> {
  const { status } = await server.api('POST', '/services', { name, deploy: false, ...settings })
  expect(status).toBe(201)
}

async function deploysOf(service: string): Promise<{ id: string; trigger: string; status: string }[]> {
  return (await server.api('GET', `/services/${service}/deploys`)).body
}

/** What the server got for a deploy. */
function received(id: string): string[] {
  const archive = join(server.dataDirectory, 'archives', `${id}.tar.gz`)
  return linesOf(execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' }))
}

describe('a folder', () => {
  test('is packed as its ignore files say, and sent for a service that is made for it', async () => {
    write({
      'index.js': 'x',
      '.env': 'SECRET=1',
      '.gitignore': 'dist/\n*.log',
      '.deployerignore': '!dist/',
      'dist/app.js': 'x',
      'a.log': 'x',
      'node_modules/m/index.js': 'x',
    })
    const listed = await deploy('-s', name, '--create', '--list')
    expect(listed).toMatchObject({ code: 0, out: '.deployerignore\n.gitignore\ndist/app.js\nindex.js\n' })
    const { code, out, error } = await deploy('-s', name, '--create', '--detach')
    expect(linesOf(error)).toEqual([
      'Packing 4 files, 19 B',
      expect.stringMatching(/^Sent \d+ B in \d+\.\d s$/),
    ])
    expect(code).toBe(0)
    const [sent] = await deploysOf(name)
    expect(sent).toMatchObject({ id: out.trim(), trigger: 'upload' })
    expect(received(out.trim())).toEqual([
      '.deployerignore',
      '.gitignore',
      'dist/',
      'dist/app.js',
      'index.js',
    ])
  })

  test('is not needed for a sample, whose service is made with the type that runs it', async () => {
    const { code, out } = await deploy('--sample', 'site', '-s', name, '--create', '--detach')
    expect(code).toBe(0)
    expect(await deploysOf(name)).toMatchObject([{ id: out.trim(), trigger: 'upload' }])
    expect((await server.api('GET', `/services/${name}`)).body).toMatchObject({ type: 'static_site' })
    expect(await deploy('--sample', 'page', '-s', name)).toMatchObject({
      code: 2,
      error: 'deployer: there is no sample page; there are: site, server\n',
    })
    expect(await deploy('.', '--sample', 'site')).toMatchObject({ code: 2 })
  })

  test('is the word, else that of the link file, else the working folder', async () => {
    await createService()
    write({ 'own/a': '', 'sub/b': '', '.deployer.json': JSON.stringify({ service: name }), c: '' })
    const cwd = join(folder, 'sub')
    const listed = [[join(folder, 'own')], ['.'], []].map(
      (words) => start([...words, '--list'], { cwd }).ended,
    )
    expect((await Promise.all(listed)).map(({ out }) => out)).toEqual(['a\n', 'b\n', 'c\nown/a\nsub/b\n'])
    expect(await start(['--detach'], { cwd }).ended).toMatchObject({ code: 0 })
    expect(await deploysOf(name)).toHaveLength(1)
  })

  test('can be listed without a server and without a service', async () => {
    write({ a: 'x', 'b/c': 'xy' })
    symlinkSync('a', join(folder, 'link'))
    const env = { DEPLOYER_HOST: '', DEPLOYER_TOKEN: '', DEPLOYER_DATA_DIR: folder }
    expect(await start(['--list'], { env }).ended).toEqual({ code: 0, out: 'a\nb/c\nlink\n', error: '' })
    const { out } = await deploy('--list', '--json')
    expect(JSON.parse(out)).toEqual([
      { path: 'a', size: 1 },
      { path: 'b/c', size: 2 },
      { path: 'link', size: 0 },
    ])
  })

  test('is followed, and the command ends as the deploy does', async () => {
    await createService()
    write({ a: 'x' })
    const following = start(['-s', name, '--json'])
    const queued = await waitFor(async () => (await deploysOf(name))[0] ?? null, 'the deploy')
    await server.api('POST', `/deploys/${queued.id}/cancel`)
    const { code, out, error } = await following.ended
    expect(JSON.parse(out)).toMatchObject({ id: queued.id, status: 'canceled', url: null })
    expect(JSON.parse(error)).toMatchObject({ error: { code: 'canceled', exit_code: 1 } })
    expect(code).toBe(1)
  })

  test('goes on to be deployed when following ends', async () => {
    await createService()
    write({ a: 'x' })
    const late = await deploy('-s', name, '--timeout', '1s')
    const following = start(['-s', name])
    const [queued] = await waitFor(async () => {
      const deploys = await deploysOf(name)
      return deploys.length === 2 && following.error.includes('Sent') ? deploys : null
    }, 'the second deploy')
    following.child.kill('SIGINT')
    expect(await following.ended).toMatchObject({
      code: 130,
      out: '',
      error: expect.stringContaining(
        `deployer: ${queued!.id} goes on; deployer deploys logs ${queued!.id} -f follows it\n`,
      ),
    })
    expect(late).toMatchObject({ code: 1, error: expect.stringContaining('has not ended within 1s') })
    expect((await deploysOf(name))[0]!.status).toBe('queued')
  })

  test('asks on a terminal for the service, which may be a new one of its name', async () => {
    write({ 'My Shop/a.txt': 'x'.repeat(2_000) })
    const cwd = join(folder, 'My Shop')
    const listed = await onTerminal(server, { cwd }, 'deploy', '--list')
    expect(listed).toEqual({ code: 0, shown: '   2.0 KiB  a.txt\n1 file, 2.0 KiB\n' })
    const { code, shown } = await onTerminal(server, { cwd, answer: 'my-shop' }, 'deploy', '--detach')
    expect(shown).toMatch(/Which service\? .*my-shop \(new\):/)
    expect(shown).toMatch(/Sent 1 file, 2\.0 KiB \(\d+ B packed\) in \d+\.\d s\n/)
    expect(code).toBe(0)
    expect(await deploysOf('my-shop')).toHaveLength(1)
  })

  test('that cannot be deployed is refused before anything is sent', async () => {
    await createService()
    write({ file: 'x', 'out/x': '', 'ignored/.gitignore': '*' })
    mkdirSync(join(folder, 'empty/nothing'), { recursive: true })
    symlinkSync('../../file', join(folder, 'out/link'))
    const cases: [string[], string][] = [
      [['missing'], 'there is no folder missing'],
      [['file'], 'file is not a folder; name the one that it is in'],
      [
        ['empty'],
        `there is no file to deploy in ${join(folder, 'empty')}; --no-gitignore packs what .gitignore leaves out`,
      ],
      [
        ['ignored'],
        `there is no file to deploy in ${join(folder, 'ignored')}; --no-gitignore packs what .gitignore leaves out`,
      ],
      [
        ['out'],
        'link is a link to ../../file, out of the folder; make it lead inside, or leave it out in .deployerignore',
      ],
      [['.', '--image', 'busybox'], 'a folder and --image are different sources; name one'],
      [['--list', '--image', 'busybox'], '--list is for a folder; leave out --image'],
      [['--commit', '9fceb02'], `--commit is for a service with a repository, which ${name} has not`],
      [['.', '--timeout', 'soon'], '--timeout must be a time such as 90s, 30m or 2h, at most 24h'],
    ]
    const outcomes = await Promise.all(cases.map(([words]) => deploy(...words, '-s', name)))
    expect(outcomes).toEqual(
      cases.map(([, message]) => ({ code: 2, out: '', error: `deployer: ${message}\n` })),
    )
    expect(await deploysOf(name)).toEqual([])
  })

  test('for a service that has another source, is suspended, or missing, is refused with the code of that', async () => {
    write({ a: 'x' })
    const of = (suffix: string) => `${name}-${suffix}`
    await server.api('POST', '/services', {
      name: of('repo'),
      repo_url: 'https://git.example.com/a.git',
      deploy: false,
    })
    await server.api('POST', '/services', { name: of('image'), image: 'busybox', deploy: false })
    await server.api('POST', '/services', { name: of('off') })
    await server.api('POST', `/services/${of('off')}/suspend`)
    const [repo, image, off, missing, nobody] = await Promise.all([
      deploy('.', '-s', of('repo')),
      deploy('.', '-s', of('image'), '--list'),
      deploy('.', '-s', of('off')),
      deploy('.', '-s', of('of')),
      deploy('.'),
    ])
    expect(repo).toMatchObject({
      code: 5,
      error: expect.stringContaining('deploys from a repository; leave out the folder'),
    })
    expect(image).toMatchObject({
      code: 5,
      error: expect.stringContaining('deploys from an image; leave out the folder'),
    })
    expect(off).toMatchObject({ code: 5, error: expect.stringContaining('suspended') })
    expect(missing).toMatchObject({ code: 4, error: expect.stringContaining(`Did you mean ${of('off')}?`) })
    expect(nobody).toMatchObject({
      code: 2,
      error: expect.stringContaining('name the service with --service'),
    })
  })
})

describe('a folder on its way', () => {
  /** Sends a large file until it stands still. */
  async function held() {
    await createService()
    write({ large: randomBytes(LARGE_BYTES) })
    const proxy = await openCuttingProxy(server.url)
    proxy.holdAfter = HELD_AFTER_BYTES
    const before = readdirSync(tmpdir())
    const running = start(['-s', name], { url: proxy.url })
    await waitFor(() => proxy.isHolding, 'the upload')
    return { proxy, running, before }
  }

  test.each<[string, RegExp, number, (from: Awaited<ReturnType<typeof held>>) => void]>([
    [
      'Ctrl-C',
      /^deployer: interrupted; nothing was deployed; run it again$/,
      130,
      ({ running }) => running.child.kill('SIGINT'),
    ],
    [
      'a lost connection',
      /^deployer: no connection to .*; nothing was deployed; run it again$/,
      6,
      ({ proxy }) => proxy.cut(),
    ],
    [
      'a file that changes',
      /^deployer: large changed while it was read; nothing was deployed, run it again$/,
      1,
      ({ proxy }) => {
        truncateSync(join(folder, 'large'), LARGE_BYTES - 1)
        proxy.resume()
      },
    ],
  ])('that is cut by %s is deployed nowhere', async (_title, message, code, cut) => {
    const from = await held()
    cut(from)
    const outcome = await from.running.ended
    await from.proxy.close()
    expect(linesOf(outcome.error).at(-1)).toMatch(message)
    expect(outcome).toMatchObject({ code, out: '' })
    expect(await deploysOf(name)).toEqual([])
    await waitFor(
      () => readdirSync(join(server.dataDirectory, 'archives')).every((file) => !file.endsWith('.partial')),
      'the rest of it to go',
    )
    expect(
      readdirSync(tmpdir()).filter(
        (file) => /^deployer-[0-9a-f]{16}$/.test(file) && !from.before.includes(file),
      ),
    ).toEqual([])
  })
})

test('Ctrl-C while a folder is packed that is too large to be sent meanwhile leaves nothing behind', async () => {
  await createService()
  write({ large: '' })
  // Without blocks on the disk.
  truncateSync(join(folder, 'large'), 4 * 1024 * LARGE_BYTES)
  const temporary = join(folder, '..', `${name}-tmp`)
  mkdirSync(temporary)
  const packing = start(['-s', name], { env: { TMPDIR: temporary } })
  await waitFor(() => packing.error.includes('Packing 1 file, 160.0 GiB'), 'the packing')
  packing.child.kill('SIGINT')
  expect(await packing.ended).toMatchObject({
    code: 130,
    out: '',
    error: expect.stringMatching(/^Packing .*\ndeployer: interrupted; nothing was deployed; run it again\n$/),
  })
  expect(readdirSync(temporary)).toEqual([])
  rmSync(temporary, { recursive: true })
  expect(await deploysOf(name)).toEqual([])
})

test('an image is set and deployed; a repository is deployed from a commit', async () => {
  await createService({ image: 'busybox:1' })
  const { code, out } = await deploy('-s', name, '--image', 'busybox:2', '--detach', '--json')
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ trigger: 'manual', source: { kind: 'image' } })
  expect((await server.api('GET', `/services/${name}`)).body.image).toBe('busybox:2')
  name = `${name}-repo`
  await createService({ repo_url: 'https://git.example.com/a.git' })
  const second = await deploy('-s', name, '--commit', '9fceb02', '--clear-cache', '--detach', '--json')
  expect(JSON.parse(second.out)).toMatchObject({ source: { kind: 'git', commit: '9fceb02' } })
  expect(existsSync(join(folder, '.deployer.json'))).toBe(false)
})

import { execFile } from 'node:child_process'
import { appendFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { builtServer } from '../support/build.ts'
import { startServer, type TestServer } from '../support/server.ts'

/** Of Debian and its kin. */
const NOBODY = 65_534

let entry: string
let server: TestServer

beforeAll(async () => {
  entry = await builtServer()
  server = await startServer()
})

afterAll(async () => {
  await server?.stop()
})

interface Outcome {
  code: number
  out: string
  error: string
}

function deployer(program: string, ...args: string[]): Promise<Outcome> {
  return deployerAs({}, program, ...args)
}

function deployerAs(user: { uid?: number }, program: string, ...args: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], user, (failure, out, error) =>
      resolve({ code: typeof failure?.code === 'number' ? failure.code : failure ? 1 : 0, out, error }),
    )
  })
}

test('version and help print and end', async () => {
  expect(await deployer(entry, 'version')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
  })
  const help = await deployer(entry, 'help')
  expect(help.out).toContain('--http-listen')
  expect(await deployer(entry, 'serve', '--help')).toEqual(help)
  expect(await deployer(entry, '-h')).toEqual(help)
  expect(await deployer(entry, 'help', '-h')).toEqual(help)
  expect(await deployer(entry, 'help', '--help', 'stop')).toEqual(await deployer(entry, 'stop', '-h'))
  expect(await deployer(entry)).toEqual(help)
})

test('each command says what it does when it is asked for help, and does nothing', async () => {
  const named = (await deployer(entry, 'help')).out.matchAll(/^deployer ([a-z-]+)/gm)
  const commands = [...new Set([...named].map(([, command]) => command!))]
  expect(commands).toContain('uninstall')
  for (const command of commands.filter((each) => !['serve', 'help'].includes(each))) {
    const usage = await deployer(entry, command, '-h')
    expect(usage).toMatchObject({ code: 0, out: expect.stringContaining(`Usage: deployer ${command}`) })
    expect(await deployer(entry, 'help', command)).toEqual(usage)
  }
  expect((await deployer(entry, 'help', 'conquer')).code).toBe(1)
})

test('an unknown command or flag ends with one line and code 1', async () => {
  for (const name of ['conquer', 'constructor']) {
    expect(await deployer(entry, name)).toMatchObject({
      code: 1,
      out: '',
      error: expect.stringMatching(new RegExp(`^deployer: .*${name}.*\\n$`)),
    })
  }
  const flag = await deployer(entry, 'serve', '--bogus', 'x')
  expect(flag).toMatchObject({ code: 1, error: expect.stringMatching(/^deployer: .*bogus.*\n$/) })
})

test.each([
  [
    'a data directory that a server uses',
    () => ['--data-dir', server.dataDirectory],
    () => server.dataDirectory,
  ],
  ['a data directory that cannot be made', () => ['--data-dir', '/proc/none'], () => '/proc/none'],
  [
    'a port that is taken',
    () => ['--data-dir', scratch(), '--listen', new URL(server.url).host],
    () => new URL(server.url).host,
  ],
  [
    'a named HTTP port that is taken',
    () => ['--data-dir', scratch(), '--listen', '127.0.0.1:0', '--http-listen', new URL(server.url).host],
    () => new URL(server.url).host,
  ],
  [
    'an engine on another host',
    () => ['--data-dir', scratch(), '--listen', '127.0.0.1:0', '--docker-host', 'tcp://192.0.2.1:2375'],
    () => '192.0.2.1',
  ],
])('serve with %s ends with one line that names it', async (_what, flags, named) => {
  const outcome = await deployer(entry, 'serve', ...flags())
  expect(outcome.code).toBe(1)
  const line = outcome.error.split('\n').filter((text) => text.startsWith('deployer: '))
  expect(line).toHaveLength(1)
  expect(line[0]).toContain(named())
  expect(outcome.error).not.toMatch(/\n\s+at /)
})

test.skipIf(process.getuid?.() !== 0)(
  'a user who may not look into the data directory is told so, not that no server runs',
  async () => {
    for (const command of ['status', 'stop', 'reset-password']) {
      const outcome = await deployerAs({ uid: NOBODY }, entry, command, '--data-dir', server.dataDirectory)
      expect(outcome).toMatchObject({ code: 1, out: '' })
      expect(outcome.error).toMatch(/^deployer.*: cannot (read|open) .*server's user\n$/)
    }
  },
)

test('ssh-key prints the public key, the same each time', async () => {
  const first = await deployer(entry, 'ssh-key', '--data-dir', server.dataDirectory)
  expect(first).toMatchObject({ code: 0, out: expect.stringMatching(/^ssh-ed25519 \S+/) })
  expect(await deployer(entry, 'ssh-key', '--data-dir', server.dataDirectory)).toEqual(first)
  expect(await deployer(entry, 'ssh-key', '--data-dir', '/proc/none')).toMatchObject({
    code: 1,
    error: expect.stringMatching(/^deployer: --data-dir \/proc\/none cannot be used: .*\n$/),
  })
})

test('proxy upgrade replaces the data plane by another program, and says when none runs', async () => {
  const folder = scratch()
  cpSync(dirname(entry), folder, { recursive: true })
  appendFileSync(join(folder, 'proxy.mjs'), '\n// another build\n')
  const upgraded = await deployer(
    join(folder, 'index.mjs'),
    'proxy',
    'upgrade',
    '--data-dir',
    server.dataDirectory,
  )
  expect(upgraded).toMatchObject({ code: 0, out: expect.stringMatching(/the data plane runs version/) })
  expect((await fetch(`http://127.0.0.1:${server.httpPort}/`)).status).toBe(404)
  const none = await deployer(entry, 'proxy', 'upgrade', '--data-dir', scratch())
  expect(none).toMatchObject({ code: 1, error: expect.stringMatching(/^deployer: no data plane/) })
})

const folders: string[] = []

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'deployer-cli-'))
  folders.push(folder)
  return folder
}

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

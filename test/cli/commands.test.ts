import { execFile, spawn } from 'node:child_process'
import { appendFileSync, closeSync, cpSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { COMMANDS } from '../../cli/table/index.ts'
import { builtServer } from '../support/build.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'

/** Of Debian and similar systems. */
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

function deployerAs(
  user: { uid?: number; env?: NodeJS.ProcessEnv },
  program: string,
  ...args: string[]
): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], user, (failure, out, error) =>
      resolve({ code: typeof failure?.code === 'number' ? failure.code : failure ? 1 : 0, out, error }),
    )
  })
}

/** Runs a command whose standard output is a file, or a pipe that nobody reads. */
function printingTo(output: number | 'closed', command: string[]): Promise<{ code: number; error: string }> {
  const child = spawn(process.execPath, [entry, ...command], {
    stdio: ['ignore', output === 'closed' ? 'pipe' : output, 'pipe'],
  })
  child.stdout?.destroy()
  let error = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (error += text))
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ code: code ?? 1, error }))
  })
}

test('version and help print and end', async () => {
  expect(await deployer(entry, 'version')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
  })
  const help = await deployer(entry, 'help')
  expect(help.out.split('\n').length).toBeLessThanOrEqual(60)
  expect((await deployer(entry, 'serve', '--help')).out).toContain('--http-listen')
  expect(await deployer(entry, '-h')).toEqual(help)
  expect(await deployer(entry, 'help', '-h')).toEqual(help)
  expect(await deployer(entry, 'help', '--help', 'stop')).toEqual(await deployer(entry, 'stop', '-h'))
  expect(await deployer(entry)).toEqual(help)
})

test('a command describes itself when asked for help, and does nothing', async () => {
  await expectUsage('uninstall')
  expect((await deployer(entry, 'help', 'conquer')).code).toBe(1)
})

test('so does each', { tags: ['slow'] }, async () => {
  const commands = COMMANDS.filter(({ isHidden }) => !isHidden).map(({ name }) => name)
  const turns = Array.from({ length: 2 }, async () => {
    for (let name = commands.pop(); name !== undefined; name = commands.pop()) await expectUsage(name)
  })
  await Promise.all(turns)
})

async function expectUsage(command: string): Promise<void> {
  const words = command.split(' ')
  const usage = await deployer(entry, ...words, '-h')
  expect(usage).toMatchObject({ code: 0, out: expect.stringContaining(`Usage: deployer ${command}`) })
  expect(await deployer(entry, 'help', ...words)).toEqual(usage)
}

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

async function expectRefusals(words: string): Promise<void> {
  for (const word of ['--bogus', '--listen=127.0.0.1:9', 'more', '--data-dir']) {
    const outcome = await deployer(entry, ...words.split(' '), word)
    expect({ words, word, ...outcome }).toMatchObject({ code: 1, out: '' })
    expect(outcome.error).toMatch(
      new RegExp(`^deployer[a-z -]*: [^\\n]*\\. See deployer help ${words}\\.\\n$`),
    )
  }
}

test.each(['status', 'stop', 'reset-password', 'ssh-key'])(
  '%s refuses an unknown word, and points to its own help',
  { tags: ['slow'] },
  expectRefusals,
)

test('a command refuses an unknown word, and points to its own help', async () => {
  await expectRefusals('proxy upgrade')
  const stop = await deployer(entry, 'stop', '--data-dir', '--all')
  expect(stop).toMatchObject({
    code: 1,
    error: expect.stringMatching(/^[^\n]*--data-dir[^\n]*help stop\.\n$/),
  })
  expect(await deployer(entry, 'help', 'stop', 'status')).toMatchObject({ code: 1, out: '' })
})

test('an error in another setting does not prevent status and stop', async () => {
  const env = { ...process.env, DEPLOYER_LISTEN: 'nowhere', DEPLOYER_DATA_DIR: server.dataDirectory }
  expect(await deployerAs({ env }, entry, 'status')).toMatchObject({ code: 0, error: '' })
  const none = { ...env, DEPLOYER_DATA_DIR: scratch() }
  expect(await deployerAs({ env: none }, entry, 'stop')).toMatchObject({ code: 0, error: '' })
})

test('output that cannot be written is reported, and is a failure; a reader that stops early is not', async () => {
  for (const command of [['version'], ['help'], ['status', '--data-dir', server.dataDirectory]]) {
    const full = openSync('/dev/full', 'w')
    const outcome = await printingTo(full, command)
    closeSync(full)
    expect(outcome).toMatchObject({
      code: 1,
      error: expect.stringMatching(/^deployer: cannot write to standard output: ENOSPC[^\n]*\n$/),
    })
    expect(await printingTo('closed', command)).toEqual({ code: 0, error: '' })
  }
})

test("a server survives the loss of its log's destination", async () => {
  const folder = scratch()
  const full = openSync('/dev/full', 'w')
  const flags = ['--listen', '127.0.0.1:0', '--http-listen', '127.0.0.1:0', '--tls', 'off']
  const engine = `unix://${join(folder, 'none.sock')}`
  const child = spawn(
    process.execPath,
    [entry, 'serve', '--data-dir', folder, ...flags, '--docker-host', engine],
    { stdio: ['ignore', full, full] },
  )
  closeSync(full)
  try {
    const runs = () => deployer(entry, 'status', '--data-dir', folder)
    await waitFor(
      async () => child.exitCode !== null || (await runs()).code === 0,
      'the server to run, or to end',
      30_000,
    )
    expect(child.exitCode).toBeNull()
  } finally {
    await deployer(entry, 'stop', '--all', '--data-dir', folder)
  }
  // A service manager that restarts what has failed leaves this one alone.
  await waitFor(() => child.exitCode !== null, 'the server to end', 15_000)
  expect(child.exitCode).toBe(0)
})

test('status distinguishes a server with another token, and one that hangs, from one that does not run', async () => {
  const folder = scratch()
  const token = 'a token of its own, visible'.replaceAll(' ', '-')
  const other = await startServer({ dataDirectory: folder, env: { DEPLOYER_API_TOKEN: token } })
  try {
    const refused = await deployer(entry, 'status', '--data-dir', folder)
    expect(refused).toMatchObject({ code: 0, error: '', out: expect.stringContaining('rejects this token') })
    const file = join(folder, 'token')
    writeFileSync(file, token)
    const told = await deployer(entry, 'status', '--data-dir', folder, '--api-token-file', file)
    expect(told).toMatchObject({ code: 0, out: expect.stringMatching(/control plane +runs version/) })
    process.kill(other.pid, 'SIGSTOP')
    const hung = await deployer(entry, 'status', '--data-dir', folder, '--api-token-file', file)
    expect(hung).toMatchObject({ code: 3, out: expect.stringContaining('does not answer') })
  } finally {
    process.kill(other.pid, 'SIGCONT')
    await other.stop()
  }
})

test('damaged data of a server is named in one line', async () => {
  const folder = scratch()
  writeFileSync(join(folder, 'server.json'), '{"pid":')
  for (const command of ['status', 'stop']) {
    const outcome = await deployer(entry, command, '--data-dir', folder)
    expect(outcome).toMatchObject({ code: 1, out: '' })
    expect(outcome.error).toMatch(/^deployer: cannot read [^\n]*server\.json: [^\n]*\n$/)
  }
})

test.skipIf(process.getuid?.() !== 0)(
  'a key that does not fit on the disk is named in one line',
  async () => {
    const disk = scratch()
    await promisify(execFile)('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk])
    try {
      const file = join(disk, 'deployer.db')
      expect(() => writeFileSync(file, Buffer.alloc(1_000_000))).toThrow('ENOSPC')
      const outcome = await deployer(entry, 'ssh-key', '--data-dir', disk)
      expect(outcome).toMatchObject({ code: 1, out: '' })
      expect(outcome.error).toMatch(/^deployer: [^\n]*no space left on device[^\n]*\n$/i)
    } finally {
      await promisify(execFile)('umount', [disk])
    }
  },
)

test.skipIf(process.getuid?.() !== 0)(
  'a user without a home directory is told to name a directory',
  async () => {
    const { HOME: _, XDG_DATA_HOME: __, ...env } = process.env
    // Nothing is looked for below the folder in which the command happens to run.
    for (const given of [{}, { HOME: '' }, { HOME: '', XDG_DATA_HOME: 'data' }]) {
      const outcome = await deployerAs({ uid: 54_321, env: { ...env, ...given } }, entry, 'status')
      expect(outcome).toMatchObject({ code: 1, out: '' })
      expect(outcome.error).toMatch(/^deployer: [^\n]*--data-dir[^\n]*\n$/)
    }
  },
)

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
  'a user who may not read the data directory is told so, not that no server runs',
  async () => {
    for (const command of ['status', 'stop', 'reset-password', 'proxy upgrade']) {
      const words = [...command.split(' '), '--data-dir', server.dataDirectory]
      const outcome = await deployerAs({ uid: NOBODY }, entry, ...words)
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

test('proxy upgrade replaces the data plane with another program, and says when none runs', async () => {
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

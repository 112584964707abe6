import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { builtServer } from '../support/build.ts'
import { waitFor } from '../support/wait.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { EMAIL, PASSWORD } from './account-client.ts'

let entry: string
let folder: string

beforeAll(async () => {
  entry = await builtServer()
  folder = mkdtempSync(join(tmpdir(), 'deployer-start-'))
})
afterAll(() => {
  // A data plane that a failed start left behind; the test that found it has failed.
  for (const pid of processesOf(folder)) process.kill(Number(pid))
  rmSync(folder, { recursive: true, force: true })
})

let places = 0

/** A data directory that no other test has; it does not exist yet. */
function place(): string {
  return join(folder, String(++places))
}

interface Ended {
  code: number | null
  output: string
  errors: string
}

/** Runs `deployer serve` until it ends; a start that succeeds fails the test. */
async function serve(flags: string[], env: Record<string, string> = {}): Promise<Ended> {
  const child = spawn(process.execPath, [entry, 'serve', ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: folder, ...env },
  })
  const ended = collect(child)
  const timer = setTimeout(() => child.kill('SIGKILL'), 20_000)
  await once(child, 'close')
  clearTimeout(timer)
  return ended()
}

function collect(child: ChildProcess): () => Ended {
  let output = ''
  let errors = ''
  child.stdout!.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  child.stderr!.setEncoding('utf8').on('data', (chunk: string) => (errors += chunk))
  return () => ({ code: child.exitCode, output, errors })
}

/** Checks a start that must fail: exit code 1 and one line of words, not a stack, that names `named`. */
function expectRefused({ code, errors }: Ended, named: string | RegExp): void {
  expect({ code, errors }).toMatchObject({ code: 1 })
  const lines = errors.split('\n').filter((line) => line.startsWith('deployer: '))
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(named)
  expect(errors).not.toMatch(/^\s+at /m)
}

async function takePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Processes that name this directory on their command line. */
function processesOf(directory: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid) || pid === String(process.pid)) return false
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(directory)
    } catch {
      return false
    }
  })
}

describe('a start with a bad flag ends with one line that names it and leaves nothing', () => {
  // test/unit/options.test.ts has more of them: here each is a process.
  it.each<[string[], string]>([
    [['--nonsense', '1'], '--nonsense'],
    [['--listen', 'localhost'], '--listen'],
    [['--base-domain', 'co.uk'], '--base-domain.*public suffix'],
    [['--api-token-file', '/nonexistent/token'], '--api-token-file.*/nonexistent/token'],
    [['--docker-host', 'tcp://192.0.2.1:2375'], '192\\.0\\.2\\.1.*--docker-host'],
  ])('%j', async (flags, named) => {
    const directory = place()
    const listen = flags.includes('--listen') ? [] : ['--listen', '127.0.0.1:0']
    expectRefused(await serve(['--data-dir', directory, ...listen, ...flags]), new RegExp(named))
    // The last process of a data plane ends a moment after it has said so.
    await waitFor(() => processesOf(directory).length === 0, 'no process to be left')
  })

  it('which may have come as its variable', async () => {
    const ended = await serve(['--data-dir', place(), '--listen', '127.0.0.1:0'], {
      DEPLOYER_LOG_LEVEL: 'loud',
    })
    expectRefused(ended, /--log-level \(DEPLOYER_LOG_LEVEL\)/)
  })

  it('and the value of a secret is not repeated', async () => {
    expect((await serve(['--api-token', 's3cret'])).errors).not.toContain('s3cret')
  })
})

describe('a start that cannot have what it was given', () => {
  it.each(['--listen', '--http-listen', '--https-listen'])(
    'names the address of %s that is taken',
    async (flag) => {
      const directory = place()
      const address = await takePort()
      const free = ['--listen', '--http-listen'].filter((other) => other !== flag)
      const rest = free.flatMap((other) => [other, '127.0.0.1:0'])
      expectRefused(
        await serve(['--data-dir', directory, ...rest, flag, address]),
        new RegExp(`${flag} ${address.replaceAll('.', '\\.')}.*another`),
      )
      // The last process of a data plane ends a moment after it has said so.
      await waitFor(() => processesOf(directory).length === 0, 'no process to be left')
    },
  )

  it('names an address that this host does not have, and leaves no data plane', async () => {
    const directory = place()
    const flags = ['--data-dir', directory, '--listen', '127.0.0.1:0', '--http-listen', '192.0.2.1:18080']
    expectRefused(await serve(flags), /--http-listen 192\.0\.2\.1:18080/)
    // The last process of a data plane ends a moment after it has said so.
    await waitFor(() => processesOf(directory).length === 0, 'no process to be left')
  })

  it.each([
    ['a file', () => entry],
    ['below a file', () => join(entry, 'data')],
    ['where nothing can be made', () => '/proc/deployer'],
  ])('names the data directory that is %s', async (_, directory) => {
    const path = directory()
    expectRefused(await serve(['--data-dir', path, '--listen', '127.0.0.1:0']), `--data-dir ${path}`)
  })

  it('names a directory that others can read and that contains other files', async () => {
    const path = place()
    mkdirSync(path)
    writeFileSync(join(path, 'notes.txt'), 'shared')
    chmodSync(path, 0o755)
    const ended = await serve(['--data-dir', path, '--listen', '127.0.0.1:0'])
    expectRefused(ended, /others can read it \(mode 0755\) and it contains other files/)
    expect(statSync(path).mode & 0o777).toBe(0o755)
    expect(readdirSync(path)).toEqual(['notes.txt'])
  })

  it.each([
    ['deployer.db', 'not a database, but long enough to be read as one'.repeat(20)],
    ['secret.key', 'too short'],
  ])('names what is damaged in it: %s', async (file, content) => {
    const directory = mkdtempSync(join(folder, 'damaged-'))
    writeFileSync(join(directory, file), content)
    const ended = await serve(['--data-dir', directory, '--listen', '127.0.0.1:0'])
    expectRefused(ended, file)
    expect(readFileSync(join(directory, file), 'utf8')).toBe(content)
  })
})

describe('a data directory', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server.stop())

  const second = () => serve(['--data-dir', server.dataDirectory, '--listen', '127.0.0.1:0'])

  it('belongs to one server; a second one is told so and the first continues', async () => {
    expectRefused(await second(), `--data-dir ${server.dataDirectory} is in use`)
    expect((await server.request('GET', '/healthz')).body).toBe('ok')
    expect((await server.api('GET', '/services')).status).toBe(200)
  })

  it('is free after kill -9, with everything that was saved', async () => {
    await server.api('POST', '/services', { name: 'kept' })
    await server.kill('SIGKILL')
    await server.restart()
    expect((await server.api('GET', '/services/kept')).status).toBe(200)
  })

  it('is freed by SIGTERM, which stops the server with code 0 although a client holds a stream', async () => {
    const response = await fetch(`${server.url}/api/v1/events`, {
      headers: { authorization: `Bearer ${server.token}` },
    })
    const { pid } = server
    await server.kill('SIGTERM')
    await response.body?.cancel().catch(() => {})
    expect(() => process.kill(pid, 0)).toThrow()
    await server.restart()
    expect((await server.request('GET', '/healthz')).status).toBe(200)
  })

  it('and its secrets are readable by their owner only', () => {
    const mode = (name: string) => statSync(join(server.dataDirectory, name)).mode & 0o777
    expect(mode('.')).toBe(0o700)
    for (const name of ['api_token', 'setup_code', 'secret.key', 'deployer.db', 'server.json']) {
      expect([name, mode(name).toString(8)]).toEqual([name, '600'])
    }
    for (const name of ['archives', 'checkouts', 'logs', 'ssh']) {
      expect([name, mode(name).toString(8)]).toEqual([name, '700'])
    }
  })

  it.each([
    ['an empty one', []],
    ['a file system of its own', ['lost+found']],
    ['one of an earlier server', ['api_token', 'notes.txt']],
  ])('that others could read is closed to them: %s', async (_, names) => {
    const dataDirectory = place()
    mkdirSync(dataDirectory)
    for (const name of names) writeFileSync(join(dataDirectory, name), 'a-token-of-an-earlier-server')
    chmodSync(dataDirectory, 0o775)
    const own = await startServer({ dataDirectory })
    try {
      expect(statSync(dataDirectory).mode & 0o7777).toBe(0o700)
    } finally {
      await own.stop()
    }
  })

  it('prints a setup link until there is an account, and never its token', async () => {
    const link = () => server.logs.split('/setup?code=').length - 1
    const before = link()
    expect(before).toBeGreaterThan(0)
    const code = server.setupCode
    await server.request('POST', '/api/v1/auth/setup', { code, email: EMAIL, password: PASSWORD })
    await server.restart()
    expect(link()).toBe(before)
    expect(server.logs).not.toContain(server.token)
  })
})

describe('a setting given at the start', () => {
  it('counts from the flag before the variable, and from the variable', async () => {
    const token = 'a-token-from-the-flag'
    const server = await startServer({
      flags: ['--api-token', token, '--default-memory-mb', '64'],
      env: {
        DEPLOYER_API_TOKEN: 'a-token-from-the-variable',
        DEPLOYER_DEFAULT_CPUS: '0.5',
        DEPLOYER_BASE_DOMAIN: 'Apps.Example.Test.',
      },
    })
    try {
      const init = { headers: { authorization: `Bearer ${token}` } }
      const { status, body } = await server.request('GET', '/api/v1/info', undefined, init)
      expect(status).toBe(200)
      expect(body).toMatchObject({
        default_memory_limit_mb: 64,
        default_cpu_limit: 0.5,
        base_domain: 'apps.example.test',
      })
      expect(server.logs).not.toContain(token)
    } finally {
      await server.stop()
    }
  })

  it('causes a warning if every user of the host can read it, but not in a file', async () => {
    const file = join(folder, 'token')
    writeFileSync(file, 'a-token-from-a-file\n')
    const flags = ['--api-token-file', file, '--webhook-secret', 'seen by everyone']
    const server = await startServer({ flags })
    try {
      const init = { headers: { authorization: 'Bearer a-token-from-a-file' } }
      expect((await server.request('GET', '/api/v1/info', undefined, init)).status).toBe(200)
      const warnings = server.logs.split('\n').filter((line) => line.includes(' warn '))
      expect(warnings.filter((line) => line.includes('list of processes'))).toEqual([
        expect.stringContaining('--webhook-secret-file (DEPLOYER_WEBHOOK_SECRET_FILE)'),
      ])
      expect(server.logs).not.toMatch(/a-token-from-a-file|seen by everyone/)
    } finally {
      await server.stop()
    }
  })

  it('says with --log-level debug which value is used for what, and not otherwise', async () => {
    for (const level of ['debug', 'info']) {
      const server = await startServer({ flags: ['--log-level', level] })
      try {
        const { body } = await server.api('POST', '/services', { name: 'told', image: 'busybox:1' })
        await server.api('POST', `/deploys/${body.latest_deploy.id}/cancel`)
        const isTold = () => server.logs.includes(`debug states: ${body.latest_deploy.id} is canceled`)
        if (level === 'debug') await waitFor(isTold, 'the line')
        // What it had to say is there once it has ended.
        await server.stop()
        expect(isTold()).toBe(level === 'debug')
      } finally {
        await server.stop()
      }
    }
  })

  it('refuses a service that would take the host of the dashboard', async () => {
    const server = await startServer({ flags: ['--dashboard-host', 'panel.localhost'] })
    try {
      expect((await server.api('POST', '/services', { name: 'panel' })).status).toBe(409)
      await server.api('POST', '/services', { name: 'other' })
      expect((await server.api('PATCH', '/services/other', { name: 'panel' })).status).toBe(409)
      expect((await server.api('POST', '/services', { name: 'panel', type: 'private_service' })).status).toBe(
        201,
      )
    } finally {
      await server.stop()
    }
  })
})

import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { removeRules } from '#daemon/packet-filter/index.ts'
import type { Schedule } from '#server/options/schedule.ts'
import { sweepEngine } from '../stand/engine.ts'
import type { Machine } from '../stand/machine.ts'
import { builtServer } from './build.ts'
import { childrenOf } from './processes.ts'
import { standEngine } from './stand-setup.ts'
import { waitFor } from './wait.ts'

const START_LIMIT_MS = 120_000
/** SIGTERM stops the server within 10 s. */
const STOP_LIMIT_MS = 20_000
const START_TRIES = 3
/**
 * Servers under test wait less than real ones; a test sets the waits that it is about. Periodic checks stay as rare as in
 * production: they would hide a missed event.
 */
const QUICK: Partial<Schedule> = {
  probeEveryMs: 500,
  datastoreProbeEveryMs: 1_000,
  workerUpMs: 500,
  crashPauseMs: 200,
  maxCrashPauseMs: 5_000,
  afterRotationMs: 500,
  longestStopMs: 5_000,
  engineRetryMs: 300,
  outputRetryMs: 500,
  drainPauseMs: 200,
  domainsEveryMs: 1_000,
  certificatesEveryMs: 1_000,
}
const SERVER_ID = "SELECT value FROM settings WHERE key = 'server_id'"

export interface ServerOptions {
  /** A folder that outlives the server; a temporary one by default. */
  dataDirectory?: string
  /** Further flags of `deployer serve`. */
  flags?: string[]
  env?: Record<string, string>
  /** Whether it gets the test stand's container engine; otherwise its engine never answers. */
  engine?: boolean
  /** The address at which services are served, if not that of its other ports. */
  serviceHost?: string
  /** The machine on which it runs, in place of this one: its engine is that of the machine, and it listens for the others. */
  machine?: Pick<Machine, 'address' | 'dockerHost' | 'entering'>
  /** Waits that differ from those of other servers under test; `usual` uses the real ones. */
  schedule?: Partial<Schedule> | 'usual'
}

export interface ApiAnswer {
  status: number
  headers: Headers
  /** The parsed body if it is JSON, else its text; null if there is none. */
  // oxlint-disable-next-line typescript/no-explicit-any -- every test reads another shape
  body: any
}

export interface TestServer {
  /** Address of the API and the dashboard, without a slash at the end. */
  readonly url: string
  /** The address of its ports. */
  readonly host: string
  /** Where services are served. */
  readonly httpPort: number
  readonly httpsPort: number
  readonly dataDirectory: string
  /** The server token. */
  readonly token: string
  /** Empty when there is an account. */
  readonly setupCode: string
  readonly pid: number
  /** Everything that the server has printed. */
  readonly logs: string
  /** Whether it was stopped for good. */
  readonly isStopped: boolean
  /** Sends a request to a path under /api/v1 with the server token; `body` becomes JSON unless it is text or bytes. */
  api(method: string, path: string, body?: unknown, init?: RequestInit): Promise<ApiAnswer>
  /** Sends a request to any path, without credentials. */
  request(method: string, path: string, body?: unknown, init?: RequestInit): Promise<ApiAnswer>
  /** Stops the server and its data plane and removes what a temporary data directory holds. Safe to call twice. */
  stop(): Promise<void>
  /** Stops only the control plane with a signal and waits for its end. */
  kill(signal?: NodeJS.Signals): Promise<void>
  /** Starts the control plane again on the same data directory and addresses; stops it first if it runs. */
  restart(): Promise<void>
}

/** Starts the built server as a separate process, on free ports and a data directory of its own. */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const entry = await builtServer()
  for (let tries = 1; ; tries++) {
    const server = new ServerProcess(entry, options, await freePorts())
    try {
      await server.start()
      return server
    } catch (error) {
      await server.stop()
      // Between finding a free port and listening there another process may have taken it.
      if (tries === START_TRIES || !server.logs.includes('another program listens there')) throw error
    }
  }
}

/** The servers that this test file started. */
export const startedServers = new Set<Pick<TestServer, 'url' | 'logs' | 'isStopped'>>()

class ServerProcess implements TestServer {
  readonly url: string
  readonly host: string
  readonly httpPort: number
  readonly httpsPort: number
  readonly dataDirectory: string
  logs = ''
  isStopped = false
  readonly #entry: string
  readonly #options: ServerOptions
  readonly #listen: string
  #child: ChildProcess | undefined

  constructor(entry: string, options: ServerOptions, [port, httpPort, httpsPort]: [number, number, number]) {
    this.#entry = entry
    this.#options = options
    this.host = options.machine?.address ?? '127.0.0.1'
    this.#listen = `${this.host}:${port}`
    this.url = `http://${this.#listen}`
    this.httpPort = httpPort
    this.httpsPort = httpsPort
    this.dataDirectory = options.dataDirectory ?? mkdtempSync(join(tmpdir(), 'deployer-test-'))
  }

  get token(): string {
    return this.#read('api_token')
  }

  get setupCode(): string {
    return this.#read('setup_code')
  }

  get pid(): number {
    if (!this.#child?.pid) throw new Error('the server does not run')
    // A machine is entered by a program that starts a child and waits for it.
    return (this.#options.machine && childrenOf(this.#child.pid)[0]) ?? this.#child.pid
  }

  async start(): Promise<void> {
    const { flags = [], env = {}, engine = false, machine, schedule = {} } = this.#options
    const noEngine = `unix://${join(this.dataDirectory, 'no-engine.sock')}`
    const dockerHost = machine?.dockerHost ?? (engine ? standEngine() : noEngine)
    const args = ['serve', '--data-dir', this.dataDirectory, '--listen', this.#listen]
    const serviceHost = this.#options.serviceHost ?? this.host
    args.push('--http-listen', `${serviceHost}:${this.httpPort}`)
    args.push('--https-listen', `${serviceHost}:${this.httpsPort}`)
    args.push('--docker-host', dockerHost, ...flags)
    // Nothing is deployed without an engine, so there is little for several workers to share.
    if (!engine && !machine && !flags.includes('--proxy-workers')) args.push('--proxy-workers', '1')
    const [program, ...before] = this.#command()
    const child = spawn(program, [...before, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      // Tests read lines as people do.
      env: {
        ...cleanEnvironment(),
        DEPLOYER_LOG_FORMAT: 'pretty',
        DEPLOYER_TEST_SCHEDULE: schedule === 'usual' ? '' : JSON.stringify({ ...QUICK, ...schedule }),
        ...env,
      },
    })
    this.#child = child
    startedServers.add(this)
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => (this.logs += chunk))
    }
    await waitFor(() => this.#listens(child), 'the server to listen', START_LIMIT_MS).catch(
      (error: Error) => {
        throw new Error(`${error.message}; it printed:\n${this.logs}`)
      },
    )
    if (hasEnded(child))
      throw new Error(`the server ended with code ${child.exitCode}; it printed:\n${this.logs}`)
    await waitFor(() => this.#isSetUp(), 'the setup code or an account')
  }

  async api(method: string, path: string, body?: unknown, init: RequestInit = {}): Promise<ApiAnswer> {
    const headers = new Headers(init.headers)
    if (!headers.has('authorization')) headers.set('authorization', `Bearer ${this.token}`)
    return this.request(method, `/api/v1${path}`, body, { ...init, headers })
  }

  async request(method: string, path: string, body?: unknown, init: RequestInit = {}): Promise<ApiAnswer> {
    const raw = body === undefined || typeof body === 'string' || body instanceof Uint8Array
    const response = await fetchAgain(this.url + path, {
      method,
      redirect: 'manual',
      ...init,
      ...(body === undefined ? {} : { body: raw ? (body as RequestInit['body']) : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? null : isJson ? JSON.parse(text) : text,
    }
  }

  async stop(): Promise<void> {
    this.isStopped = true
    const [program, ...before] = this.#command()
    const args = [...before, 'stop', '--all', '--data-dir', this.dataDirectory]
    await promisify(execFile)(program, args, { timeout: STOP_LIMIT_MS }).catch(
      (error: Error) => (this.logs += `${error.message}\n`),
    )
    await this.kill('SIGTERM')
    if (this.#options.dataDirectory) return
    if (this.#options.engine) await this.#sweep()
    rmSync(this.dataDirectory, { recursive: true, force: true, maxRetries: 5 })
  }

  /** The program and its first arguments. */
  #command(): [string, ...string[]] {
    const command = [...(this.#options.machine?.entering ?? []), process.execPath, this.#entry]
    return command as [string, ...string[]]
  }

  /** Removes what outlives the server: what it created in the engine, and its packet filter rules. */
  async #sweep(): Promise<void> {
    const file = join(this.dataDirectory, 'deployer.db')
    if (!existsSync(file)) return
    const database = new DatabaseSync(file)
    const { value } = database.prepare(SERVER_ID).get() as { value: string }
    database.close()
    await sweepEngine(value)
    await removeRules(value)
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child
    if (!child || hasEnded(child)) return
    const ended = once(child, 'exit')
    const { pid } = this
    process.kill(pid, signal)
    const insist = setTimeout(() => process.kill(pid, 'SIGKILL'), STOP_LIMIT_MS)
    await ended
    clearTimeout(insist)
  }

  async restart(): Promise<void> {
    await this.kill('SIGTERM')
    await this.start()
  }

  /** Whether this very process listens; the file of an earlier one may still exist. Also true when it has ended. */
  #listens(child: ChildProcess): boolean {
    if (hasEnded(child)) return true
    const { pid } = JSON.parse(readFileSync(join(this.dataDirectory, 'server.json'), 'utf8')) as {
      pid: number
    }
    return pid === idOf(this.pid)
  }

  async #isSetUp(): Promise<boolean> {
    if (this.setupCode !== '') return true
    return (await this.request('GET', '/api/v1/auth/status')).body.setup_required === false
  }

  #read(name: string): string {
    try {
      return readFileSync(join(this.dataDirectory, name), 'utf8').trim()
    } catch {
      return ''
    }
  }
}

/**
 * Like fetch, but a read that hit a kept-alive connection which the server was just closing is repeated once: a test
 * that computes for seconds gives its client no time to see the end.
 */
async function fetchAgain(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { code?: string }
    if (init.method !== 'GET' || (code !== 'UND_ERR_SOCKET' && code !== 'ECONNRESET')) throw error
    return fetch(url, init)
  }
}

/** The id of a process in its own namespace, where it knows itself by it (`NSpid` in proc_pid_status(5)). */
function idOf(pid: number): number {
  return Number(/^NSpid:.*\s(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

/** The machine's settings for its own server do not belong in a test. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env)
  return Object.fromEntries(
    entries.filter(([name]) => !/^(DEPLOYER_|DOCKER_|VITEST|SSH_CONNECTION$|NODE_OPTIONS$)/.test(name)),
  )
}

/** Kept open together, so that they differ. */
async function freePorts(): Promise<[number, number, number]> {
  const probes = [listenAnywhere(), listenAnywhere(), listenAnywhere()] as const
  await Promise.all(probes.map((probe) => once(probe, 'listening')))
  const [port, httpPort, httpsPort] = probes.map((probe) => (probe.address() as AddressInfo).port)
  await Promise.all(probes.map((probe) => once(probe.close(), 'close')))
  return [port!, httpPort!, httpsPort!]
}

function listenAnywhere(): Server {
  return createServer().listen(0, '127.0.0.1')
}

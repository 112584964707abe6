import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll } from 'vitest'
import { bundleProxy } from '../../modules/proxy.ts'
import type { ProxyClient } from '../../daemon/proxy/client.ts'
import { connectOwnProxy, type OwnProxyOptions } from '../../daemon/proxy/own-proxy.ts'
import type { RouteTable, Target, Upstream } from '../../proxy/protocol.ts'

// Every read buffer is overwritten after use, so that a byte used too late shows in the answers.
process.env.DEPLOYER_PROXY_POISON = '1'

const build = mkdtempSync(join(tmpdir(), 'deployer-proxy-build-'))
afterAll(() => rmSync(build, { recursive: true, force: true }))

/** The program as the server ships it: one file. */
export const PROGRAM = join(build, 'proxy.mjs')
bundleProxy(join(import.meta.dirname, '../..'), PROGRAM)
export const ADDRESS = '127.0.0.1:0'
export const HOST = 'app.test'

/** A table with one host; further fields replace its own. */
export function tableOf(upstreams: Upstream[], more: Partial<RouteTable> = {}): RouteTable {
  return {
    version: 1,
    listeners: [{ address: ADDRESS, protocol: 'http' }],
    hosts: { [HOST]: 'app' },
    targets: { app: targetOf(upstreams) },
    zones: {},
    certificates: {},
    acme_challenges: {},
    tls_challenges: {},
    verification_key: '',
    hsts_seconds: 0,
    h2c: false,
    trusted_proxies: [],
    upstream_timeout_ms: 30_000,
    max_connections_per_ip: 2_000,
    ...more,
  }
}

export function targetOf(upstreams: Upstream[], state: Target['state'] = 'serving', id = 'srv-app'): Target {
  return { id, state, upstreams }
}

/** A separate data plane in its own directory. */
export class ProxyStand {
  readonly directory: string
  readonly messages: string[] = []
  client!: ProxyClient
  #clients: ProxyClient[] = []
  #root: string

  constructor(name = 'data') {
    this.#root = mkdtempSync(join(tmpdir(), 'deployer-proxy-test-'))
    this.directory = join(this.#root, name)
    mkdirSync(this.directory)
  }

  static async start(table: RouteTable, more: Partial<OwnProxyOptions> = {}): Promise<ProxyStand> {
    const stand = new ProxyStand()
    stand.client = await stand.connect(table, more)
    return stand
  }

  /** Another control plane on the same data directory. */
  async connect(table: RouteTable, more: Partial<OwnProxyOptions> = {}): Promise<ProxyClient> {
    const client = await connectOwnProxy({
      dataDirectory: this.directory,
      serverId: 'server-1',
      version: '1.0.0',
      program: PROGRAM,
      node: process.execPath,
      workers: 1,
      table,
      log: (message) => this.messages.push(message),
      ...more,
    })
    this.#clients.push(client)
    return client
  }

  get port(): number {
    return this.client.bound[0]!.port
  }

  get log(): string {
    return readFileSync(join(this.directory, 'proxy/proxy.log'), 'utf8')
  }

  /** Processes of this data plane by role, read from the kernel. */
  async processes(): Promise<{ supervisor: number; workers: number[] }> {
    const workers: number[] = []
    let supervisor = 0
    for (const pid of this.pids()) {
      const command = commandLine(pid)
      if (command.includes('deployer-proxy worker')) workers.push(pid)
      if (command.includes('deployer-proxy supervisor')) supervisor = pid
    }
    return { supervisor, workers }
  }

  pids(): number[] {
    const pids = [...this.log.matchAll(/"pid":(\d+)/g)].map((match) => Number(match[1]))
    const children = pids.flatMap((pid) => childrenOf(pid))
    return [...new Set([...pids, ...children])]
  }

  /** Resolves when the client is connected to another supervisor than now. */
  async reconnection(): Promise<void> {
    let reconnected = false
    this.client.onReconnect = () => (reconnected = true)
    await waitFor(
      () => reconnected,
      () => `no reconnection: ${this.messages.join('\n')}\n${this.log}`,
    )
  }

  /** A connection that speaks bytes. */
  raw(port = this.port): RawConnection {
    return new RawConnection(port)
  }

  async stop(): Promise<void> {
    const last = this.#clients.at(-1)
    if (last) await last.stopAll()
    for (const client of this.#clients) client.close()
    rmSync(this.#root, { recursive: true, force: true })
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

/** How long a test waits for bytes before it fails. */
const PATIENCE_MS = 30_000

/** A client that sends and receives bytes as they are. */
export class RawConnection {
  readonly socket: Socket
  received = ''
  /** The proxy has sent FIN, or the connection is gone. */
  ended = false
  failed: Error | null = null

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    this.socket.setEncoding('latin1')
    this.socket.on('data', (text: string) => (this.received += text))
    this.socket.on('end', () => (this.ended = true))
    this.socket.on('close', () => (this.ended = true))
    this.socket.on('error', (error) => (this.failed = error))
  }

  send(...lines: string[]): this {
    this.socket.write(Buffer.from(lines.join('\r\n'), 'latin1'))
    return this
  }

  /** Sends a request head of these lines and its empty line. */
  request(...lines: string[]): this {
    return this.send(...lines, '', '')
  }

  /** Waits until what was received contains `part`. */
  async until(part: string | RegExp): Promise<string> {
    await waitFor(
      () =>
        (typeof part === 'string' ? this.received.includes(part) : part.test(this.received)) || this.ended,
      () => `waiting for ${String(part)}, received ${JSON.stringify(this.received.slice(0, 500))}`,
    )
    return this.received
  }

  /** Waits for the end of the connection and returns everything that came. */
  async end(): Promise<string> {
    await waitFor(
      () => this.ended,
      () => `waiting for the end, received ${JSON.stringify(this.received.slice(0, 500))}`,
    )
    this.socket.end()
    return this.received
  }

  close(): void {
    this.socket.destroy()
  }
}

/** Waits for a condition; fails with `describe` after a time that only a hang needs. */
export async function waitFor(condition: () => boolean, describe: () => string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(describe())
    await sleep(5)
  }
}

/** An upstream that accepts bytes and answers with bytes. */
export class RawUpstream {
  readonly sockets: Socket[] = []
  /** Everything that came on all connections. */
  received = ''
  #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  /** `answer` is called with each piece and everything on its connection since `answer` last returned true, for answered. */
  static async start(
    answer: (socket: Socket, piece: string, all: string) => boolean | void,
  ): Promise<RawUpstream> {
    const server = createServer({ allowHalfOpen: true })
    const upstream = new RawUpstream(server)
    server.on('connection', (socket) => {
      upstream.sockets.push(socket)
      let all = ''
      socket.on('error', () => {})
      socket.on('data', (data) => {
        const piece = data.toString('latin1')
        all += piece
        upstream.received += piece
        if (answer(socket, piece, all) === true) all = ''
      })
      socket.on('end', () => socket.end())
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return upstream
  }

  /** One that answers each head with these bytes. */
  static answering(...lines: string[]): Promise<RawUpstream> {
    return RawUpstream.start((socket, piece) => {
      if (piece.includes('\r\n\r\n')) socket.write(Buffer.from(lines.join('\r\n'), 'latin1'))
    })
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get spec(): Upstream {
    return { instance: `raw-${this.port}`, host: '127.0.0.1', port: this.port }
  }

  /** Requests that arrived, by their request lines. */
  get requestLines(): string[] {
    return [...this.received.matchAll(/^[A-Z]+ \S+ HTTP\/1\.1\r$/gm)].map(([line]) => line.trim())
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy()
    this.#server.close()
  }
}

/** An upstream on node's own server. */
export class HttpUpstream {
  readonly server: ReturnType<typeof createHttpServer>
  readonly instance: string

  private constructor(instance: string, listener: RequestListener) {
    this.instance = instance
    this.server = createHttpServer(listener)
  }

  static async start(instance: string, listener: RequestListener): Promise<HttpUpstream> {
    const upstream = new HttpUpstream(instance, listener)
    upstream.server.listen(0, '127.0.0.1')
    await once(upstream.server, 'listening')
    return upstream
  }

  get spec(): Upstream {
    return { instance: this.instance, host: '127.0.0.1', port: (this.server.address() as AddressInfo).port }
  }

  /** Ends it like a stopped container: every connection is cut. */
  close(): void {
    this.server.close()
    this.server.closeAllConnections()
  }
}

/** The status of the first answer in raw bytes. */
export function statusOf(received: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(received)?.[1] ?? 0)
}

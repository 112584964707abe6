import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { workerSocketFile, withSocketPath } from '../control/paths.ts'
import { log } from '../log.ts'
import {
  Channel,
  ChannelError,
  type BoundListener,
  type ListenerSpec,
  type RouteTable,
  type SupervisorSettings,
  type WireError,
} from '../protocol.ts'
import { Relay } from '../relay/relay.ts'
import { Resolver } from '../resolver/resolver.ts'
import { spawnSupervisor, type WorkerSettings } from '../spawn.ts'
import { TICKET_KEY_BYTES } from '../supervisor/ticket-keys.ts'
import { validateTable } from '../table.ts'
import { checkSharedBuffer } from './self-check.ts'

/** Connections that may wait to be accepted; the kernel caps it at net.core.somaxconn (4096 by default). */
const BACKLOG = 4_096
/** How often counts are told to the supervisor when they changed. */
const REPORT_MS = 2_000
/** A worker that no supervisor has spoken to by then is nobody's. */
const ORPHAN_AT_BIRTH_MS = 30_000
/** A retiring worker answers names for so long: where listeners overlap, its successor starts only after it. */
const RESOLVER_LINGER_MS = 5_000
/** Time for the last counts to reach the supervisor. */
const FAREWELL_MS = 500

/** What a worker counts, as it tells its supervisor. */
export interface WorkerReport {
  incarnation: string
  sums: Record<string, number[]>
  connections: number
  requests: number
}

/** Who a worker is, the answer to `hello`. */
export interface WorkerHello {
  pid: number
  version: string
  incarnation: string
}

/** Serves on inherited listening sockets until it is retired; its control socket takes orders from any supervisor. */
export async function runWorker(settings: WorkerSettings): Promise<void> {
  const worker = new Worker(settings)
  // The supervisor tells it when to end; a signal to the whole process group must not.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
  process.on('SIGTERM', () => worker.retire(FAREWELL_MS, true))
  await checkSharedBuffer()
  await worker.open()
}

class Worker {
  #settings: WorkerSettings
  #relay = new Relay()
  #resolver = new Resolver()
  #incarnation = randomUUID()
  #servers: Server[] = []
  #bound: BoundListener[] | null = null
  /** What the table has each address speak. */
  #protocols = new Map<string, ListenerSpec['protocol']>()
  #channels = new Set<Channel>()
  #reported = ''
  #greeted = false
  #ending = false

  constructor(settings: WorkerSettings) {
    this.#settings = settings
    this.#relay.whenEmpty = () => {
      if (!this.#resolver.isInUse) this.#end()
    }
  }

  /** Opens the control socket. */
  async open(): Promise<void> {
    const file = workerSocketFile(this.#settings.data_directory, process.pid)
    rmSync(file, { force: true })
    const server = createServer((socket) =>
      this.#greet(new Channel(socket, (op, body) => this.#handle(op, body))),
    )
    await withSocketPath(
      file,
      (path) =>
        new Promise<void>((resolve, reject) => {
          server.once('error', reject)
          server.listen(path, resolve)
        }),
    )
    process.on('exit', () => rmSync(file, { force: true }))
    setInterval(() => this.#report(), REPORT_MS).unref()
    setTimeout(() => this.#greeted || this.#end(), ORPHAN_AT_BIRTH_MS).unref()
  }

  #greet(channel: Channel): void {
    this.#greeted = true
    this.#channels.add(channel)
    channel.onClose = () => this.#channels.delete(channel)
  }

  #handle(op: string, body: Record<string, unknown>): unknown {
    switch (op) {
      case 'hello':
        return this.#hello()
      case 'table':
        return this.#applyTable(body.table)
      case 'tickets':
        return this.#takeTicketKeys(body.keys)
      case 'drain':
        return this.#relay.drain(String(body.instance), Number(body.deadline_ms))
      case 'counts':
        return this.#view()
      case 'retire':
        return this.retire(Number(body.limit_ms), body.close_idle === true)
      case 'start_supervisor':
        return this.#startSupervisor(body)
      default:
        throw new ChannelError('unknown', `${op} is not known to this worker`)
    }
  }

  #hello(): WorkerHello {
    return { pid: process.pid, version: this.#settings.version, incarnation: this.#incarnation }
  }

  /** Takes a table; listens first with the first one, so that no request comes before there are routes. */
  async #applyTable(table: unknown): Promise<{ listeners: BoundListener[] }> {
    const valid = validateTable(table)
    this.#relay.routes.apply(valid)
    this.#protocols = new Map(valid.listeners.map(({ address, protocol }) => [address, protocol]))
    this.#relay.securePort = this.#securePort(valid)
    await this.#resolver.apply(valid.zones)
    if (!this.#bound && !this.#relay.retiring) {
      this.#bound = await Promise.all(this.#listenAll())
      this.#relay.securePort = this.#securePort(valid)
    }
    return { listeners: this.#bound ?? [] }
  }

  #listenAll(): Promise<BoundListener>[] {
    return this.#settings.sockets.map(
      ({ address, fd }) =>
        new Promise<BoundListener>((resolve, reject) => {
          const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
            this.#relay.accept(socket, this.#protocols.get(address) ?? 'http'),
          )
          server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, address)))
          server.listen({ fd }, BACKLOG, () => {
            server.on('error', (error) => log('error', 'listener', { address, error: error.message }))
            const { address: host, port } = server.address() as AddressInfo
            resolve({ address, host, port })
          })
          this.#servers.push(server)
        }),
    )
  }

  /** Where clients that shall come by TLS are sent; null when nothing speaks it, or not yet. */
  #securePort({ listeners }: RouteTable): number | null {
    const secure = listeners.find(({ protocol }) => protocol === 'https')
    return this.#bound?.find(({ address }) => address === secure?.address)?.port ?? null
  }

  /** Takes the keys that all workers encrypt TLS session tickets with. */
  #takeTicketKeys(keys: unknown): null {
    const bytes = Buffer.from(String(keys), 'base64')
    if (bytes.length !== TICKET_KEY_BYTES)
      throw new ChannelError('failed', 'the ticket keys are not 48 bytes')
    this.#relay.setTicketKeys(bytes)
    return null
  }

  /** Has a supervisor started with the sockets that this worker holds, in place of one that died. */
  #startSupervisor(body: Record<string, unknown>): null {
    if (this.#relay.retiring)
      throw new ChannelError('failed', 'the worker is retiring and holds no listening socket')
    const { node, program, settings } = body as {
      node: string
      program: string
      settings: SupervisorSettings
    }
    const child = spawnSupervisor(node, program, settings, this.#settings.sockets)
    child.on('error', (error) => log('error', 'cannot start a supervisor', { error: error.message }))
    return null
  }

  /** Accepts no more, ends each connection after its next answer, and ends itself with the last or after `limitMs`. */
  retire(limitMs: number, closeIdle: boolean): null {
    for (const server of this.#servers.splice(0)) server.close()
    setTimeout(() => this.#end(), limitMs).unref()
    // At the end of the whole data plane nobody comes after.
    if (closeIdle) this.#resolver.close()
    else setTimeout(() => this.#endResolver(), RESOLVER_LINGER_MS).unref()
    // The answer goes out first: without connections this is the end.
    setImmediate(() => this.#relay.retire(closeIdle))
    return null
  }

  #endResolver(): void {
    this.#resolver.close()
    if (this.#relay.openConnections === 0) this.#end()
  }

  #view(): WorkerReport {
    const relay = this.#relay
    return {
      incarnation: this.#incarnation,
      sums: relay.routes.sums(),
      connections: relay.openConnections,
      requests: relay.openRequests,
    }
  }

  #report(): void {
    const report = this.#view()
    const text = JSON.stringify(report)
    if (text === this.#reported) return
    this.#reported = text
    for (const channel of this.#channels) channel.event('counts', report)
  }

  #end(): void {
    if (this.#ending) return
    this.#ending = true
    this.#relay.end()
    this.#reported = ''
    this.#report()
    for (const channel of this.#channels) channel.close()
    setTimeout(() => process.exit(0), this.#channels.size === 0 ? 0 : FAREWELL_MS)
  }
}

function listenError(error: NodeJS.ErrnoException, address: string): ChannelError {
  const code = error.code === 'EADDRINUSE' || error.code === 'EACCES' ? error.code : 'listen_failed'
  return new ChannelError(code satisfies WireError['code'], `${address}: ${error.message}`, address)
}

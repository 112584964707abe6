import { readFileSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs } from '../clock.ts'
import { Channel, ChannelError } from '../control/channel.ts'
import { workerSocketFile, withSocketPath } from '../control/paths.ts'
import { putRequestsFirst } from '../control/priority.ts'
import { SharedCounts } from '../control/shared-counts.ts'
import { SocketWatch } from '../control/socket-watch.ts'
import { type WorkerHello, type WorkerReport, TICKET_KEY_BYTES } from '../control/worker-messages.ts'
import { Guards } from '../edge/guards.ts'
import { log } from '../log.ts'
import { PROTOCOL, type BoundListener, type SupervisorSettings } from '../protocol.ts'
import { Resolver } from '../resolver/resolver.ts'
import { spawnStarter, type WorkerSettings } from '../spawn.ts'
import { sharesReadBuffer } from '../wire/self-check.ts'
import { useDataEvents } from '../wire/socket-wire.ts'
import { Listeners } from './listeners.ts'
import { ConnectionLimits } from './connection-limits.ts'
import { Relay } from './relay.ts'
import { Reporter } from './reporter.ts'
import { TableIntake } from './table-intake.ts'

/** The kernel's random UUIDs, random(4). */
const RANDOM_UUID_FILE = '/proc/sys/kernel/random/uuid'
/** How often changed counts are reported to the supervisor. */
const REPORT_MS = 2_000
/** How long a new worker waits for a supervisor to connect before it ends. */
const FIRST_CONTACT_TIMEOUT_MS = 30_000
/** How long a retiring worker still answers names: where listeners overlap, its successor starts only after that. */
const RESOLVER_LINGER_MS = 5_000
/** How long a worker that is done waits for a supervisor that takes its last counts. */
const FINAL_REPORT_TIMEOUT_MS = 10_000
const FINAL_REPORT_POLL_MS = 50
/** How long a supervisor has to answer the last report, and how long open requests get after SIGTERM. */
const FAREWELL_TIMEOUT_MS = 500

/** Serves on inherited listening sockets until it is retired. Any supervisor can control it through its control socket. */
export async function runWorker(settings: WorkerSettings): Promise<void> {
  putRequestsFirst()
  const worker = new Worker(settings)
  // The supervisor says when a worker ends; a signal to the whole process group must not end it.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
  process.on('SIGTERM', () => worker.retire(FAREWELL_TIMEOUT_MS, true))
  if (settings.buffer_shared_on !== process.version && !(await sharesReadBuffer())) useDataEvents()
  await worker.open()
}

class Worker {
  #settings: WorkerSettings
  #relay: Relay
  #resolver = new Resolver()
  #incarnation = readFileSync(RANDOM_UUID_FILE, 'latin1').trim()
  #listeners: Listeners
  #reporters = new Map<Channel, Reporter>()
  #server: Server | null = null
  #channels = 0
  #watch: SocketWatch | null = null
  #greeted = false
  #ending = false
  /** False when the whole data plane ends. */
  #expectsSuccessor = true

  constructor(settings: WorkerSettings) {
    this.#settings = settings
    const { counts, workers } = settings
    this.#relay = new Relay(
      new ConnectionLimits(counts && new SharedCounts(counts), workers),
      // A single worker has no need for system calls.
      new Guards(workers > 1 ? counts : null),
    )
    this.#listeners = new Listeners(settings.sockets, (socket, protocol) =>
      this.#relay.accept(socket, protocol),
    )
    this.#relay.whenEmpty = () => {
      if (!this.#resolver.isInUse) this.#end()
    }
  }

  /** Opens the control socket. */
  async open(): Promise<void> {
    const file = workerSocketFile(this.#settings.data_directory, process.pid)
    await this.#listen(file)
    this.#watch = new SocketWatch(file, {
      isAlone: () => this.#channels === 0,
      reopen: () => this.#listen(file),
      gone: () => {
        log('warn', 'the data directory is gone; this worker has no supervisor and ends')
        this.retire(FAREWELL_TIMEOUT_MS, true)
      },
    })
    process.on('exit', () => rmSync(file, { force: true }))
    setInterval(() => {
      this.#watch?.look()
      void this.#report()
    }, REPORT_MS).unref()
    setTimeout(() => this.#greeted || this.#end(), FIRST_CONTACT_TIMEOUT_MS).unref()
  }

  async #listen(file: string): Promise<void> {
    // A server that closes later would remove the file, even if it belongs to its successor by then.
    this.#server?.close()
    rmSync(file, { force: true })
    const server = createServer((socket) => this.#greet(socket))
    await withSocketPath(
      file,
      (path) =>
        new Promise<void>((resolve, reject) => {
          server.once('error', reject)
          server.listen(path, resolve)
        }),
    )
    this.#server = server
  }

  #greet(socket: Socket): void {
    const tables = new TableIntake(this.#relay.routes)
    const channel: Channel = new Channel(socket, (op, body) => {
      if (op === 'hello') this.#addSupervisor(channel)
      return this.#handle(op, body, tables)
    })
    this.#greeted = true
    this.#channels++
    // A host has few watches: while a supervisor is connected, the regular report checks the file for the next one.
    this.#watch?.stop()
    channel.onClose = () => {
      this.#reporters.delete(channel)
      if (--this.#channels === 0) this.#watch?.start()
    }
  }

  /** Reports counts to this peer from now on: it said hello, so it is a supervisor. Control planes never do. */
  #addSupervisor(channel: Channel): void {
    if (!this.#reporters.has(channel))
      this.#reporters.set(channel, new Reporter(channel, this.#relay.routes.ledger))
  }

  #handle(op: string, body: Record<string, unknown>, tables: TableIntake): unknown {
    switch (op) {
      case 'hello':
        return this.#hello()
      case 'tickets':
        return this.#takeTicketKeys(body.keys)
      case 'table':
        return this.#takeTable(tables, body)
      case 'drain':
        return this.#relay.drain(String(body.instance), Number(body.deadline_ms))
      case 'counts':
        return this.#count()
      case 'access_lines':
        return this.#relay.accessLog.take()
      case 'retire':
        return this.retire(Number(body.limit_ms), body.close_idle === true)
      case 'start_supervisor':
        return this.#startSupervisor(body)
      default:
        throw new ChannelError('unknown', `this worker does not support ${op}`)
    }
  }

  #hello(): WorkerHello {
    const { version } = this.#settings
    return { pid: process.pid, version, incarnation: this.#incarnation, protocol: PROTOCOL }
  }

  /**
   * Takes a part of a table. The first complete table starts the listeners, so that no request comes before there are
   * routes.
   */
  async #takeTable(tables: TableIntake, message: object): Promise<{ listeners: BoundListener[] } | null> {
    const table = tables.read(message)
    if (!table) return null
    const { draft, settings } = table
    const swapping = tables.swap(table)
    if (draft.maintains) this.#relay.endMaintained()
    this.#listeners.apply(settings.listeners)
    this.#relay.securePort = this.#listeners.securePort
    await swapping
    if (draft.changesZones) await this.#resolver.apply(Object.fromEntries(this.#relay.routes.zones))
    if (!this.#relay.retiring) await this.#listeners.open()
    this.#relay.securePort = this.#listeners.securePort
    return { listeners: this.#listeners.bound }
  }

  /** Takes the keys with which all workers encrypt TLS session tickets. */
  #takeTicketKeys(keys: unknown): null {
    const bytes = Buffer.from(String(keys), 'base64')
    if (bytes.length !== TICKET_KEY_BYTES)
      throw new ChannelError('failed', 'the ticket keys are not 48 bytes')
    this.#relay.setTicketKeys(bytes)
    return null
  }

  /** Starts a supervisor with the sockets that this worker holds, to replace one that died. */
  #startSupervisor(body: Record<string, unknown>): null {
    if (this.#relay.retiring)
      throw new ChannelError('failed', 'the worker is retiring and holds no listening socket')
    const { node, program, settings } = body as {
      node: string
      program: string
      settings: SupervisorSettings
    }
    const child = spawnStarter(node, program, settings, this.#settings.sockets)
    child.on('error', (error) => log('error', 'cannot start a supervisor', { error: error.message }))
    return null
  }

  /** Stops accepting, ends each connection after its next answer, and ends the process with the last or after `limitMs`. */
  retire(limitMs: number, closeIdle: boolean): null {
    this.#listeners.close()
    setTimeout(() => this.#end(), limitMs).unref()
    // When the whole data plane ends, there is no successor.
    this.#expectsSuccessor = !closeIdle
    if (closeIdle) this.#resolver.close()
    else setTimeout(() => this.#endResolver(), RESOLVER_LINGER_MS).unref()
    // The answer goes out first: without connections, this ends the process.
    setImmediate(() => this.#relay.retire(closeIdle))
    return null
  }

  #endResolver(): void {
    this.#resolver.close()
    if (this.#relay.openConnections === 0) this.#end()
  }

  #view(): Omit<WorkerReport, 'sums'> {
    const { openConnections, openRequests } = this.#relay
    return { incarnation: this.#incarnation, connections: openConnections, requests: openRequests }
  }

  /** Reports the counts to every supervisor. */
  async #report(): Promise<void> {
    const changed = this.#relay.routes.ledger.takeChanged()
    for (const reporter of this.#reporters.values()) reporter.note(changed)
    await Promise.all([...this.#reporters.values()].map((reporter) => reporter.report(() => this.#view())))
  }

  /** Answers once everything has been reported. */
  async #count(): Promise<WorkerReport> {
    await this.#report()
    return { ...this.#view(), sums: {} }
  }

  #end(): void {
    if (this.#ending) return
    this.#ending = true
    this.#relay.end()
    void this.#reportAndExit()
  }

  /**
   * Ends the process once a supervisor, perhaps one that is about to take over, has confirmed the last counts and has fetched
   * the last lines of access logs.
   */
  async #reportAndExit(): Promise<void> {
    const deadline = monotonicMs() + (this.#greeted && this.#expectsSuccessor ? FINAL_REPORT_TIMEOUT_MS : 0)
    while (!(await this.#confirmFinalReport()) && monotonicMs() < deadline) await sleep(FINAL_REPORT_POLL_MS)
    const { accessLog } = this.#relay
    const waits = !accessLog.isEmpty
    while (!accessLog.isEmpty && monotonicMs() < deadline) await sleep(FINAL_REPORT_POLL_MS)
    // The answer with the last of them is being written.
    if (waits && monotonicMs() < deadline) await sleep(FINAL_REPORT_POLL_MS)
    process.exit(0)
  }

  /** Reports everything and asks the supervisors to confirm; true if one did. */
  async #confirmFinalReport(): Promise<boolean> {
    await this.#report()
    const answers = [...this.#reporters.keys()].map((channel) =>
      channel.request('farewell', {}, FAREWELL_TIMEOUT_MS),
    )
    return Promise.any(answers).then(
      () => true,
      () => false,
    )
  }
}

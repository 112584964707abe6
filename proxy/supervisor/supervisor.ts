import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { log, messageOf } from '../log.ts'
import {
  ChannelError,
  PROTOCOL,
  connectChannel,
  controlSocketFile,
  proxyDirectory,
  type BoundListener,
  type Channel,
  type Hello,
  type RouteTable,
  type SupervisorSettings,
} from '../protocol.ts'
import { spawnSupervisor } from '../spawn.ts'
import { parseAddress, validateTable } from '../table.ts'
import { ControlServer } from './control-server.ts'
import { CountsBook } from './counts-book.ts'
import { readJson, rotateLog, writeAtomically } from './files.ts'
import { Fleet, startFailure } from './fleet.ts'
import { Sockets } from './sockets.ts'
import type { TicketKeysMessage } from './ticket-keys.ts'
import { WorkerLink } from './worker-link.ts'

const SAVE_COUNTS_MS = 10_000
const CHECK_LOG_MS = 60_000
/** Time for a successor to start its workers and take over. */
const UPGRADE_MS = 30_000
const HANDOVER_MS = 10_000
/** Time for answers to leave before the process ends. */
const FAREWELL_MS = 300

/** Holds the listening sockets, the table and the workers; does what the control plane asks. Carries no traffic. */
export async function runSupervisor(settings: SupervisorSettings): Promise<void> {
  const supervisor = new Supervisor(settings)
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
  process.on('SIGTERM', () => void supervisor.stop())
  await supervisor.start()
}

class Supervisor {
  #settings: SupervisorSettings
  #directory: string
  #sockets: Sockets
  #fleet: Fleet
  #control: ControlServer
  #table: RouteTable | null = null
  #listeners: BoundListener[] = []
  #queue: Promise<unknown> = Promise.resolve()
  #handedOver: (() => void) | null = null
  #adopted = false

  constructor(settings: SupervisorSettings) {
    this.#settings = settings
    this.#directory = proxyDirectory(settings.data_directory)
    this.#sockets = new Sockets(settings.inherited)
    this.#fleet = new Fleet(new CountsBook(this.#directory), () => void this.#inTurn(() => this.#fill()))
    this.#control = new ControlServer(
      settings.data_directory,
      () => this.#hello(),
      (op, body) => this.#handle(op, body),
    )
  }

  async start(): Promise<void> {
    process.chdir(this.#settings.data_directory)
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
    const predecessor = await this.#reachRunning()
    if (predecessor && !this.#settings.successor) {
      log('warn', 'another supervisor runs already; this one ends')
      process.exit(0)
    }
    if (predecessor) await this.#attachTo(predecessor)
    await this.#serveSaved()
    if (predecessor) await this.#takeOver(predecessor)
    // While nothing else serves, the workers of the supervisor before go on.
    if (this.#fleet.serving.length > 0) await this.#adoptWorkers()
    await this.#control.open()
    setInterval(() => this.#fleet.book.save(), SAVE_COUNTS_MS)
    setInterval(() => rotateLog(this.#directory), CHECK_LOG_MS)
    log('info', 'the data plane serves', { version: this.#settings.version, listeners: this.#listeners })
  }

  /** Ends the whole data plane and this process. */
  async stop(): Promise<null> {
    await this.#inTurn(async () => {
      if (!this.#adopted) await this.#adoptWorkers()
      await this.#fleet.stop()
    })
    this.#control.remove()
    this.#endSoon('the data plane has ended')
    return null
  }

  #hello(): Hello {
    return {
      protocol: PROTOCOL,
      version: this.#settings.version,
      server_id: this.#settings.server_id,
      pid: process.pid,
      listeners: this.#listeners,
      table_version: this.#table?.version ?? null,
    }
  }

  #handle(op: string, body: Record<string, unknown>): unknown {
    switch (op) {
      case 'attach':
        // Not waited for: a successor attaches while its upgrade is the change under way.
        if (Number(body.workers) > 0) void this.#inTurn(() => this.#resize(Number(body.workers)))
        return null
      case 'table':
        return this.#inTurn(() => this.#applyTable(body.table))
      case 'drain':
        return this.#fleet.drain(String(body.instance), Number(body.deadline_ms))
      case 'counts':
        return this.#fleet.counts()
      case 'upgrade':
        return this.#inTurn(() => this.#upgrade(body))
      case 'ticket_keys':
        return this.#fleet.ticketKeys.message
      case 'handover':
        return this.#handOver()
      case 'stop':
        return this.stop()
      default:
        throw new ChannelError('unknown', `${op} is not known to this data plane`)
    }
  }

  /** Runs one change at a time. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work)
    this.#queue = result.catch(() => {})
    return result
  }

  // --- table and workers

  async #applyTable(value: unknown): Promise<{ listeners: BoundListener[] }> {
    const table = validateTable(value)
    if (JSON.stringify(table) === JSON.stringify(this.#table)) return { listeners: this.#listeners }
    if (this.#table && addressesOf(this.#table).join() === addressesOf(table).join())
      await this.#fleet.update(table)
    else await this.#changeListeners(table)
    this.#table = table
    if (!this.#adopted) await this.#adoptWorkers()
    writeAtomically(join(this.#directory, 'table.json'), JSON.stringify(table), true)
    return { listeners: this.#listeners }
  }

  /** Serves on the table's addresses with new workers; the old ones finish. Throws with nothing changed. */
  async #changeListeners(table: RouteTable): Promise<void> {
    const before = this.#sockets.held.map(({ address }) => address)
    const old = this.#fleet.serving
    if (this.#overlaps(table)) await this.#release(old, table)
    try {
      this.#listeners = await this.#startWorkers(this.#settings.workers, table)
    } catch (error) {
      this.#sockets.keep(before)
      if (this.#fleet.serving.length === 0) await this.#fill()
      throw startFailure(error)
    }
    await Promise.all(old.map((link) => link.update(table)))
    await this.#fleet.retire(old)
    this.#sockets.keep(addressesOf(table))
  }

  /** Whether a new address has the port of one that leaves, as when 0.0.0.0:80 becomes [::]:80. */
  #overlaps(table: RouteTable): boolean {
    const wanted = addressesOf(table)
    const leaving = this.#listeners.filter(({ address }) => !wanted.includes(address)).map(({ port }) => port)
    const staying = this.#listeners.map(({ address }) => address)
    return wanted.some(
      (address) => !staying.includes(address) && leaving.includes(parseAddress(address).port),
    )
  }

  /** Gives up addresses before the new ones are opened: for a moment new connections are refused. */
  async #release(old: WorkerLink[], table: RouteTable): Promise<void> {
    await this.#fleet.retire(old)
    const wanted = addressesOf(table)
    this.#sockets.keep(wanted)
  }

  async #startWorkers(count: number, table: RouteTable): Promise<BoundListener[]> {
    const sockets = this.#sockets.bind(addressesOf(table))
    if (sockets.length === 0) return []
    const { data_directory, version } = this.#settings
    return this.#fleet.start(count, { data_directory, version, sockets }, table)
  }

  /** Replaces workers that have died. */
  async #fill(): Promise<void> {
    const missing = this.#settings.workers - this.#fleet.serving.length
    if (missing <= 0 || !this.#table) return
    try {
      await this.#startWorkers(missing, this.#table)
    } catch (error) {
      log('error', 'a worker cannot be started', { error: messageOf(error) })
      setTimeout(() => void this.#inTurn(() => this.#fill()), SAVE_COUNTS_MS)
    }
  }

  async #resize(workers: number): Promise<void> {
    this.#settings.workers = workers
    await this.#fleet.retire(this.#fleet.serving.slice(workers))
    await this.#fill()
  }

  /** Serves what the last table said, before any control plane is there. */
  async #serveSaved(): Promise<void> {
    const saved = readJson(join(this.#directory, 'table.json'))
    if (saved === null) return
    try {
      const table = validateTable(saved)
      this.#listeners = await this.#startWorkers(this.#settings.workers, table)
      this.#table = table
    } catch (error) {
      log('error', 'the saved table cannot be served; the control plane has to send one', {
        error: messageOf(error),
      })
    }
  }

  /** Finds the workers of a supervisor before, whose counts go on here; they finish what they serve. */
  async #adoptWorkers(): Promise<void> {
    this.#adopted = true
    const running = await WorkerLink.adoptAll(this.#settings.data_directory, this.#fleet.pids)
    if (running.length > 0) this.#fleet.book.resume()
    await this.#fleet.adopt(running, this.#table)
  }

  // --- succession

  async #reachRunning(): Promise<Channel | null> {
    try {
      return await connectChannel(controlSocketFile(this.#settings.data_directory), () => null)
    } catch {
      return null
    }
  }

  async #attachTo(predecessor: Channel): Promise<void> {
    await predecessor.request('attach', { server_id: this.#settings.server_id, workers: 0 }, HANDOVER_MS)
    try {
      this.#fleet.ticketKeys.inherit(
        (await predecessor.request('ticket_keys', {}, HANDOVER_MS)) as TicketKeysMessage,
      )
    } catch (error) {
      // An older program has none: sessions begin anew.
      if (!(error instanceof ChannelError && error.code === 'unknown')) throw error
    }
  }

  async #takeOver(predecessor: Channel): Promise<void> {
    const { table } = (await predecessor.request('handover', {}, HANDOVER_MS)) as { table: RouteTable | null }
    predecessor.close()
    if (table) await this.#applyTable(table)
  }

  /** Starts another program in this one's place; resolves when that one takes over. */
  async #upgrade(body: Record<string, unknown>): Promise<null> {
    const { node, program, version, workers } = body as {
      node: string
      program: string
      version: string
      workers: number
    }
    const settings = { ...this.#settings, version, workers, inherited: [], successor: true }
    const child = spawnSupervisor(node, program, settings, this.#sockets.held)
    const failed = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message))
      child.once('exit', (code, signal) => resolve(`it ended with ${signal ?? code}`))
    })
    const taken = new Promise<null>((resolve) => (this.#handedOver = () => resolve(null)))
    const late = sleep(UPGRADE_MS, 'it did not take over in time', { ref: false })
    const fault = await Promise.race([taken, failed, late])
    this.#handedOver = null
    if (fault === null) return null
    child.kill('SIGKILL')
    throw new ChannelError('failed', `the new proxy program cannot take over: ${fault}; see proxy/proxy.log`)
  }

  async #handOver(): Promise<{ table: RouteTable | null }> {
    if (!this.#handedOver) throw new ChannelError('failed', 'no upgrade is under way')
    await this.#fleet.counts()
    this.#fleet.book.save()
    this.#fleet.leave()
    this.#handedOver()
    this.#endSoon('the next supervisor has taken over')
    return { table: this.#table }
  }

  #endSoon(why: string): void {
    log('info', why)
    // Answers are written in this turn of the loop, before the connections end.
    setImmediate(() => this.#control.close())
    setTimeout(() => process.exit(0), FAREWELL_MS)
  }
}

function addressesOf(table: RouteTable): string[] {
  return [...new Set(table.listeners.map(({ address }) => address))]
}

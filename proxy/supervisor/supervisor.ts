import { mkdirSync } from 'node:fs'
import { ChannelError } from '../control/channel.ts'
import { proxyDirectory, supervisorPidFile } from '../control/paths.ts'
import { log } from '../log.ts'
import {
  PROTOCOL,
  type BoundListener,
  type Hello,
  type RouteTable,
  type SupervisorSettings,
  type TableMessage,
} from '../protocol.ts'
import { TableImage, type TableText } from '../table/image.ts'
import type { TableReader } from '../table/reader.ts'
import type { ComingChanges } from './coming-changes.ts'
import { ControlServer } from './control-server.ts'
import { rotateLog, writeAtomically } from './files.ts'
import { ServedTable } from './served-table.ts'
import { Serving } from './serving.ts'
import { Predecessor, Succession, type UpgradeOrder } from './succession.ts'

const SAVE_MS = 10_000
const CHECK_LOG_MS = 60_000
/** Time for answers to be sent before the process ends. */
const EXIT_DELAY_MS = 300

/**
 * Runs the supervisor: it has the listening sockets, the table and the workers, follows the control plane, and carries no
 * traffic.
 */
export async function runSupervisor(settings: SupervisorSettings): Promise<void> {
  const supervisor = new Supervisor(settings)
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
  process.on('SIGTERM', () => void supervisor.stop())
  process.on('SIGUSR2', () => void supervisor.leave())
  await supervisor.start()
}

/** The state of one connection to the control socket. */
interface Connection {
  tables: TableReader<TableText>
  /** The last table that came over this connection. */
  image: TableImage | null
  /** The incoming changes to it. */
  coming: ComingChanges | null
}

class Supervisor {
  #settings: SupervisorSettings
  #directory: string
  #serving: Serving
  #control: ControlServer
  #queue: Promise<unknown> = Promise.resolve()
  #succession = new Succession()
  #timers: NodeJS.Timeout[] = []

  constructor(settings: SupervisorSettings) {
    this.#settings = settings
    this.#directory = proxyDirectory(settings.data_directory)
    this.#serving = new Serving(settings, () => void this.#inTurn(() => this.#serving.fill()))
    this.#control = new ControlServer(
      settings.data_directory,
      () => this.#hello(),
      () => {
        const connection: Connection = { tables: TableImage.reader(), image: null, coming: null }
        return (op, body, text) => this.#handle(op, body, text, connection)
      },
      () => {
        log('warn', 'the data directory is gone, so nothing can control this data plane any more; ending')
        void this.#abandon()
      },
    )
  }

  async start(): Promise<void> {
    process.chdir(this.#settings.data_directory)
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
    const predecessor = await Predecessor.find(this.#settings.data_directory)
    if (predecessor && !this.#settings.successor) {
      log('warn', 'another supervisor is already running; this one ends')
      process.exit(0)
    }
    const serving = this.#serving
    const keys = await predecessor?.ticketKeys(this.#settings.server_id)
    if (keys) serving.fleet.ticketKeys.inherit(keys)
    await serving.startSaved()
    // Before the previous supervisor ends: a service manager that notices its end reads here which process continues.
    writeAtomically(supervisorPidFile(this.#settings.data_directory), `${process.pid}\n`)
    const table = await predecessor?.takeOver()
    if (table) await serving.apply(ServedTable.of(table))
    // As long as nothing else serves, the previous supervisor's workers continue.
    if (serving.fleet.serving.length > 0) await serving.adopt()
    await this.#control.open()
    this.#timers = [
      setInterval(() => serving.save(), SAVE_MS),
      setInterval(() => rotateLog(this.#directory), CHECK_LOG_MS),
    ]
    log('info', 'the data plane is serving', {
      version: this.#settings.version,
      listeners: serving.listeners,
    })
  }

  /** Ends the whole data plane and this process. */
  async stop(): Promise<null> {
    await this.#inTurn(async () => {
      await this.#serving.adopt()
      await this.#serving.fleet.stop()
    })
    this.#control.remove()
    this.#endSoon('the data plane has ended')
    return null
  }

  /** Ends everything without touching its files: those that have their names now belong to another data plane. */
  async #abandon(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    const { fleet } = this.#serving
    fleet.book.abandon()
    await this.#inTurn(() => fleet.stop())
    this.#endSoon('the data plane has ended')
  }

  /** Ends only this process: the workers keep serving, and the next supervisor takes them over. */
  async leave(): Promise<void> {
    await this.#inTurn(async () => {
      await this.#serving.fleet.counts()
      this.#serving.fleet.leave()
    })
    this.#control.remove()
    this.#endSoon('the supervisor has ended; the workers keep serving')
  }

  #hello(): Hello {
    const { listeners, table } = this.#serving
    return {
      protocol: PROTOCOL,
      version: this.#settings.version,
      server_id: this.#settings.server_id,
      pid: process.pid,
      listeners,
      table_version: table?.image.settings.version ?? null,
    }
  }

  #handle(op: string, body: Record<string, unknown>, text: string, connection: Connection): unknown {
    switch (op) {
      case 'attach':
        // Not awaited: a successor attaches while its upgrade is the change under way.
        if (Number(body.workers) > 0) void this.#inTurn(() => this.#serving.resize(Number(body.workers)))
        return null
      case 'table':
        return this.#takeTable(body, text, connection)
      case 'drain':
        return this.#serving.fleet.drain(String(body.instance), Number(body.deadline_ms))
      case 'counts':
        return this.#serving.fleet.counts()
      case 'access_lines':
        return this.#serving.fleet.accessLines()
      case 'upgrade':
        return this.#inTurn(() =>
          this.#succession.upgrade(
            body as unknown as UpgradeOrder,
            this.#settings,
            this.#serving.sockets.held,
          ),
        )
      case 'ticket_keys':
        return this.#serving.fleet.ticketKeys.message
      case 'handover':
        return this.#handOver()
      case 'stop':
        return this.stop()
      default:
        throw new ChannelError('unknown', `this data plane does not support ${op}`)
    }
  }

  /** Runs one change at a time. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work)
    this.#queue = result.catch(() => {})
    return result
  }

  #takeTable(
    message: object,
    text: string,
    connection: Connection,
  ): Promise<{ listeners: BoundListener[] }> | null {
    const read = connection.tables.read(message, text)
    if (!read) {
      this.#forwardChanges(message as TableMessage, text, connection)
      return null
    }
    connection.coming = null
    return this.#inTurn(async () => {
      const before = this.#serving.table?.image ?? null
      if (read.base && connection.image !== before)
        throw new ChannelError('invalid_table', 'the changes do not apply to the table in use')
      const table = ServedTable.after(before, read)
      await this.#serving.apply(table)
      connection.image = table.image
      return { listeners: this.#serving.listeners }
    })
  }

  /** Passes changes on to the workers while more of them come. */
  #forwardChanges({ part, base }: TableMessage, text: string, connection: Connection): void {
    const inForce = this.#serving.table?.image
    if (part === 0)
      connection.coming =
        base && inForce && connection.image === inForce ? this.#serving.expectChanges(inForce) : null
    connection.coming?.add(text)
  }

  async #handOver(): Promise<{ table: RouteTable | null }> {
    this.#succession.expect()
    const { fleet, table } = this.#serving
    await fleet.counts()
    fleet.leave()
    this.#succession.done()
    this.#endSoon('the next supervisor has taken over')
    return { table: table?.image.table ?? null }
  }

  #endSoon(why: string): void {
    log('info', why)
    // Answers are written in this turn of the event loop, before the connections end.
    setImmediate(() => this.#control.close())
    setTimeout(() => process.exit(0), EXIT_DELAY_MS)
  }
}

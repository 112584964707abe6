import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ChannelError } from '../control/channel.ts'
import { proxyDirectory } from '../control/paths.ts'
import { CountColumns } from '../control/shared-counts.ts'
import { log, messageOf } from '../log.ts'
import type { BoundListener, SupervisorSettings } from '../protocol.ts'
import type { TableImage } from '../table/image.ts'
import { parseAddress } from '../table/validation.ts'
import { sharesReadBuffer } from '../wire/self-check.ts'
import { ComingChanges } from './coming-changes.ts'
import { CountsBook } from './counts-book.ts'
import { Fleet, startFailure } from './fleet.ts'
import { ServedTable } from './served-table.ts'
import { Sockets } from './sockets.ts'
import { TableFile } from './table-file.ts'
import { WorkerLink } from './worker-link.ts'

/** The wait after a worker could not be started. */
const START_AGAIN_MS = 10_000
/** How long a process that is about to end, such as the supervisor before this one, may hold a closed address. */
const RELEASE_MS = 2_000
const RELEASE_POLL_MS = 20

/** What is served: a table, on listening sockets, by workers. Callers must make one change at a time. */
export class Serving {
  readonly sockets: Sockets
  readonly fleet: Fleet
  /** The table in force. */
  table: ServedTable | null = null
  listeners: BoundListener[] = []
  #settings: SupervisorSettings
  #file: TableFile
  #vacant: () => void
  #adopted = false
  /** Checked once here: a worker that checks for itself loads modules that many workers never need. */
  #sharesReadBuffer: Promise<boolean> | null = null

  /** `vacant` is called when there are too few workers: the owner should then call `fill` in its turn. */
  constructor(settings: SupervisorSettings, vacant: () => void) {
    const directory = proxyDirectory(settings.data_directory)
    this.#settings = settings
    this.#vacant = vacant
    this.#file = new TableFile(join(directory, 'table.ndjson'))
    this.sockets = new Sockets(settings.inherited)
    this.fleet = new Fleet(new CountsBook(directory), openColumns(directory), vacant)
  }

  /** Lets workers follow incoming changes to a table, instead of earlier ones. */
  expectChanges(base: TableImage): ComingChanges {
    const changes = new ComingChanges(base)
    this.fleet.follow(changes)
    return changes
  }

  /** Puts a table in force. If an address is not available, throws `ChannelError` and nothing has changed. */
  async apply(table: ServedTable): Promise<void> {
    if (this.table && this.table.addresses.join() === table.addresses.join()) await this.fleet.update(table)
    else await this.#changeListeners(table)
    this.table = table
    await this.adopt()
    this.#keep(() => this.#file.save(table))
  }

  /** Saves what changes all the time; called periodically. */
  save(): void {
    const { table } = this
    this.fleet.book.save()
    if (table) this.#keep(() => this.#file.tidy(table))
  }

  /** Serves on the table's addresses with new workers; the old ones finish. If it throws, nothing has changed. */
  async #changeListeners(table: ServedTable): Promise<void> {
    const before = this.sockets.held.map(({ address }) => address)
    const old = this.fleet.serving
    const released = this.#overlappingPorts(table)
    if (released.size > 0) await this.#release(old, table)
    try {
      await this.#bindReleased(table, released)
      this.listeners = await this.#startWorkers(this.#settings.workers, table)
    } catch (error) {
      this.sockets.keep(before)
      if (this.fleet.serving.length === 0) await this.fill()
      throw startFailure(error)
    }
    await Promise.all(old.map((link) => link.update(table)))
    await this.fleet.retire(old)
    this.sockets.keep(table.addresses)
  }

  /** The ports of new addresses that leaving ones have too, as when 0.0.0.0:80 becomes [::]:80. */
  #overlappingPorts(table: ServedTable): Set<number> {
    const wanted = table.addresses
    const staying = this.listeners.map(({ address }) => address)
    const leaving = this.listeners.filter(({ address }) => !wanted.includes(address)).map(({ port }) => port)
    const coming = wanted.filter((address) => !staying.includes(address))
    return new Set(
      coming.map((address) => parseAddress(address).port).filter((port) => leaving.includes(port)),
    )
  }

  /** Closes addresses before the new ones are opened: new connections are refused for a moment. */
  async #release(old: WorkerLink[], table: ServedTable): Promise<void> {
    await this.fleet.retire(old)
    const wanted = table.addresses
    this.sockets.keep(wanted)
  }

  /** Binds the table's addresses, those on released ports as soon as they are free. Throws `ChannelError`. */
  async #bindReleased(table: ServedTable, released: Set<number>): Promise<void> {
    const until = performance.now() + RELEASE_MS
    for (;;)
      try {
        return void this.sockets.bind(table.addresses)
      } catch (error) {
        const held = error instanceof ChannelError && error.code === 'EADDRINUSE' && error.address
        if (!held || !released.has(parseAddress(held).port) || performance.now() > until) throw error
        await sleep(RELEASE_POLL_MS)
      }
  }

  async #startWorkers(count: number, table: ServedTable): Promise<BoundListener[]> {
    const sockets = this.sockets.bind(table.addresses)
    if (sockets.length === 0) return []
    const { data_directory, version, workers } = this.#settings
    this.#sharesReadBuffer ??= sharesReadBuffer()
    const buffer_shared_on = (await this.#sharesReadBuffer) ? process.version : null
    return this.fleet.start(count, { data_directory, version, sockets, buffer_shared_on, workers }, table)
  }

  /** Replaces workers that have died. */
  async fill(): Promise<void> {
    const missing = this.#settings.workers - this.fleet.serving.length
    if (missing <= 0 || !this.table) return
    try {
      await this.#startWorkers(missing, this.table)
    } catch (error) {
      log('error', 'cannot start a worker', { error: messageOf(error) })
      setTimeout(this.#vacant, START_AGAIN_MS)
    }
  }

  /** Changes the number of serving workers. */
  async resize(workers: number): Promise<void> {
    this.#settings.workers = workers
    await this.fleet.retire(this.fleet.serving.slice(workers))
    await this.fill()
  }

  /** Serves the last table, before any control plane is there. */
  async startSaved(): Promise<void> {
    try {
      const image = this.#file.load()
      if (!image) return
      const table = new ServedTable(image)
      this.listeners = await this.#startWorkers(this.#settings.workers, table)
      this.table = table
    } catch (error) {
      log('error', 'cannot serve the saved table; waiting for one from the control plane', {
        error: messageOf(error),
      })
    }
  }

  /** Finds the workers of the previous supervisor, and continues their counts; they finish what they serve. */
  async adopt(): Promise<void> {
    if (this.#adopted) return
    this.#adopted = true
    const { book, pids } = this.fleet
    const running = await WorkerLink.adoptAll(this.#settings.data_directory, pids, book)
    book.begin(new Set(running.map(({ incarnation }) => incarnation)))
    await this.fleet.adopt(running, this.table)
  }

  /** If the disk is full, everything stays in force all the same. */
  #keep(write: () => void): void {
    try {
      write()
    } catch (error) {
      log('error', 'the table is in force but could not be saved', { error: messageOf(error) })
    }
  }
}

/** Opens the shared counts of the workers; without them, each worker counts alone. */
function openColumns(directory: string): CountColumns | null {
  try {
    return new CountColumns(directory)
  } catch (error) {
    log('error', 'cannot share counts between the workers; each counts alone', { error: messageOf(error) })
    return null
  }
}

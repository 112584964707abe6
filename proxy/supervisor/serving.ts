import { join } from 'node:path'
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

/** After a worker could not be started. */
const START_AGAIN_MS = 10_000

/** What is served: a table, on listening sockets, by workers. One change may be made at a time. */
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
  /** Asked once: workers that check for themselves load what many of them never use. */
  #sharesReadBuffer: Promise<boolean> | null = null

  /** `vacant` is called when there are fewer workers than there should be: call `fill` in turn. */
  constructor(settings: SupervisorSettings, vacant: () => void) {
    const directory = proxyDirectory(settings.data_directory)
    this.#settings = settings
    this.#vacant = vacant
    this.#file = new TableFile(join(directory, 'table.ndjson'))
    this.sockets = new Sockets(settings.inherited)
    this.fleet = new Fleet(new CountsBook(directory), openColumns(directory), vacant)
  }

  /** Has workers follow changes to a table while they come, and no longer those before. */
  expectChanges(base: TableImage): ComingChanges {
    const changes = new ComingChanges(base)
    this.fleet.follow(changes)
    return changes
  }

  /** Puts a table in force. Throws `ChannelError` with nothing changed when an address cannot be had. */
  async apply(table: ServedTable): Promise<void> {
    if (this.table && this.table.addresses.join() === table.addresses.join()) await this.fleet.update(table)
    else await this.#changeListeners(table)
    this.table = table
    await this.adopt()
    this.#keep(() => this.#file.save(table))
  }

  /** Keeps on disk what changes all the time, now and then. */
  save(): void {
    const { table } = this
    this.fleet.book.save()
    if (table) this.#keep(() => this.#file.tidy(table))
  }

  /** Serves on the table's addresses with new workers; the old ones finish. Throws with nothing changed. */
  async #changeListeners(table: ServedTable): Promise<void> {
    const before = this.sockets.held.map(({ address }) => address)
    const old = this.fleet.serving
    if (this.#overlaps(table)) await this.#release(old, table)
    try {
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

  /** Whether a new address has the port of one that leaves, as when 0.0.0.0:80 becomes [::]:80. */
  #overlaps(table: ServedTable): boolean {
    const wanted = table.addresses
    const leaving = this.listeners.filter(({ address }) => !wanted.includes(address)).map(({ port }) => port)
    const staying = this.listeners.map(({ address }) => address)
    return wanted.some(
      (address) => !staying.includes(address) && leaving.includes(parseAddress(address).port),
    )
  }

  /** Gives up addresses before the new ones are opened: for a moment new connections are refused. */
  async #release(old: WorkerLink[], table: ServedTable): Promise<void> {
    await this.fleet.retire(old)
    const wanted = table.addresses
    this.sockets.keep(wanted)
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
      log('error', 'a worker cannot be started', { error: messageOf(error) })
      setTimeout(this.#vacant, START_AGAIN_MS)
    }
  }

  /** Has so many workers serve. */
  async resize(workers: number): Promise<void> {
    this.#settings.workers = workers
    await this.fleet.retire(this.fleet.serving.slice(workers))
    await this.fill()
  }

  /** Serves what the last table said, before any control plane is there. */
  async startSaved(): Promise<void> {
    try {
      const image = this.#file.load()
      if (!image) return
      const table = new ServedTable(image)
      this.listeners = await this.#startWorkers(this.#settings.workers, table)
      this.table = table
    } catch (error) {
      log('error', 'the saved table cannot be served; the control plane has to send one', {
        error: messageOf(error),
      })
    }
  }

  /** Finds the workers of a supervisor before, whose counts go on here; they finish what they serve. */
  async adopt(): Promise<void> {
    if (this.#adopted) return
    this.#adopted = true
    const { book, pids } = this.fleet
    const running = await WorkerLink.adoptAll(this.#settings.data_directory, pids, book)
    book.begin(new Set(running.map(({ incarnation }) => incarnation)))
    await this.fleet.adopt(running, this.table)
  }

  /** A full disk takes nothing out of force. */
  #keep(write: () => void): void {
    try {
      write()
    } catch (error) {
      log('error', 'the table is in force but cannot be saved', { error: messageOf(error) })
    }
  }
}

/** What workers count by together; without it each counts for itself. */
function openColumns(directory: string): CountColumns | null {
  try {
    return new CountColumns(directory)
  } catch (error) {
    log('error', 'the workers cannot count together', { error: messageOf(error) })
    return null
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs } from '../clock.ts'
import { ChannelError } from '../control/channel.ts'
import type { CountColumns } from '../control/shared-counts.ts'
import { log, messageOf } from '../log.ts'
import type { AccessLines, BoundListener, Counts } from '../protocol.ts'
import type { WorkerSettings } from '../spawn.ts'
import type { ComingChanges } from './coming-changes.ts'
import type { CountsBook } from './counts-book.ts'
import type { ServedTable } from './served-table.ts'
import { TicketKeys } from './ticket-keys.ts'
import { WorkerLink } from './worker-link.ts'

/** A retiring worker that still streams after this long is ended, so that upgrades do not pile up. */
const RETIRE_LIMIT_MS = 60 * 60 * 1000
/** How long open requests have when the data plane ends. */
const STOP_LIMIT_MS = 5_000
const STOP_SLACK_MS = 3_000
/** A worker that died this young is replaced only after a wait, which doubles each time. */
const YOUNG_MS = 1_000
const MIN_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 5_000
/** How often workers are pinged. */
const PING_INTERVAL_MS = 5_000

/** The workers: those that serve and those that finish. A serving worker that dies is replaced. */
export class Fleet {
  readonly book: CountsBook
  readonly ticketKeys = new TicketKeys(() => void this.shareTicketKeys())
  readonly #columns: CountColumns | null
  #links = new Set<WorkerLink>()
  #vacant: () => void
  #replacing = true
  #wait = 0

  /** `columns` are for counting across workers; `vacant` is called when a serving worker has died and should be replaced. */
  constructor(book: CountsBook, columns: CountColumns | null, vacant: () => void) {
    this.book = book
    this.#columns = columns
    this.#vacant = vacant
    setInterval(() => this.#pingAll(), PING_INTERVAL_MS).unref()
  }

  get serving(): WorkerLink[] {
    return [...this.#links].filter((link) => !link.retiring)
  }

  get pids(): Set<number> {
    return new Set([...this.#links].map((link) => link.pid))
  }

  /** Starts workers that serve a table. If one fails, throws and ends the others. */
  async start(
    count: number,
    settings: Omit<WorkerSettings, 'counts'>,
    table: ServedTable,
  ): Promise<BoundListener[]> {
    const started = await Promise.allSettled(Array.from({ length: count }, () => this.#spawn(settings)))
    const links = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    try {
      const failure = started.find((result) => result.status === 'rejected')
      if (failure) throw failure.reason
      await Promise.all(links.map((link) => link.setTicketKeys(this.ticketKeys.text)))
      // One after the other: the first one makes the sockets listen, and fails if they cannot.
      let listeners: BoundListener[] = []
      for (const link of links) listeners = await link.give(table)
      for (const link of links) this.#add(link)
      return listeners
    } catch (error) {
      for (const link of links) link.kill()
      throw error
    }
  }

  async #spawn(settings: Omit<WorkerSettings, 'counts'>): Promise<WorkerLink> {
    const counts = this.#columns?.take() ?? null
    const end = () => counts && this.#columns!.free(counts.column)
    try {
      const link = await WorkerLink.spawn({ ...settings, counts }, this.book)
      void link.ended.then(end)
      return link
    } catch (error) {
      end()
      throw error
    }
  }

  /** Takes over workers that another supervisor left; they finish what they serve. */
  async adopt(links: WorkerLink[], table: ServedTable | null): Promise<void> {
    for (const link of links) {
      link.retiring = true
      this.#add(link)
    }
    await this.shareTicketKeys()
    if (table) await Promise.all(links.map((link) => link.update(table)))
    await this.retire(links)
  }

  /** Gives every worker the table; resolves when all have it. */
  async update(table: ServedTable): Promise<void> {
    await Promise.all([...this.#links].map((link) => link.update(table)))
  }

  /** Passes changes to their table to every worker, while they come. */
  follow(changes: ComingChanges): void {
    for (const link of this.#links) link.follow(changes)
  }

  /** Gives every worker the keys of TLS session tickets. */
  async shareTicketKeys(): Promise<void> {
    await Promise.all([...this.#links].map((link) => link.setTicketKeys(this.ticketKeys.text)))
  }

  /** Lets these workers finish and end. */
  async retire(links: WorkerLink[]): Promise<void> {
    await Promise.all(links.map((link) => link.retire(RETIRE_LIMIT_MS, false)))
  }

  async drain(instance: string, deadlineMs: number): Promise<void> {
    await Promise.all([...this.#links].map((link) => link.drain(instance, deadlineMs)))
  }

  async counts(): Promise<Counts> {
    let open_connections = 0
    let open_requests = 0
    for (const report of await Promise.all([...this.#links].map((link) => link.report()))) {
      if (!report) continue
      this.book.report(report)
      open_connections += report.connections
      open_requests += report.requests
    }
    // If this supervisor ends suddenly, the next one knows at least what was reported by now.
    this.book.save()
    return { ...this.book.view(), open_connections, open_requests }
  }

  /** Takes lines of access logs from every worker. */
  async accessLines(): Promise<AccessLines> {
    const taken: AccessLines = { lines: [], lost: {}, more: false }
    for (const answer of await Promise.all([...this.#links].map((link) => link.accessLines()))) {
      if (!answer) continue
      taken.lines.push(...answer.lines)
      for (const [service, count] of Object.entries(answer.lost))
        taken.lost[service] = (taken.lost[service] ?? 0) + count
      taken.more ||= answer.more
    }
    return taken
  }

  /** Ends every worker: open requests have a few seconds. */
  async stop(): Promise<void> {
    this.#replacing = false
    const links = [...this.#links]
    await Promise.all(links.map((link) => link.retire(STOP_LIMIT_MS, true)))
    const all = Promise.all(links.map((link) => link.ended))
    await Promise.race([all, sleep(STOP_LIMIT_MS + STOP_SLACK_MS, undefined, { ref: false })])
    for (const link of this.#links) link.kill()
  }

  /** Leaves all workers running, for the next supervisor. */
  leave(): void {
    this.#replacing = false
    for (const link of this.#links) link.leave()
  }

  #add(link: WorkerLink): void {
    this.#links.add(link)
    void link.ended.then(() => this.#gone(link))
  }

  #gone(link: WorkerLink): void {
    this.#links.delete(link)
    this.book.close(link.incarnation)
    if (!this.#replacing || link.retiring) return
    const young = monotonicMs() - link.startedAt < YOUNG_MS
    this.#wait = young ? Math.min(Math.max(this.#wait * 2, MIN_BACKOFF_MS), MAX_BACKOFF_MS) : 0
    log('error', 'a worker has died and will be replaced', { worker: link.pid, wait_ms: this.#wait })
    setTimeout(() => this.#replacing && this.#vacant(), this.#wait)
  }

  #pingAll(): void {
    for (const link of this.#links) link.ping()
  }
}

/** Returns the error of a failed start in the form that the control plane gets. */
export function startFailure(error: unknown): ChannelError {
  return error instanceof ChannelError ? error : new ChannelError('failed', messageOf(error))
}

import type { ChildProcess } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs } from '../clock.ts'
import { ChannelError, connectChannel, type Channel } from '../control/channel.ts'
import { workerSocketFile, workerSocketFiles } from '../control/paths.ts'
import type { WorkerHello, WorkerReport } from '../control/worker-messages.ts'
import { log, messageOf } from '../log.ts'
import { TARGETS_AS_JSON, type AccessLines, type BoundListener } from '../protocol.ts'
import { spawnWorker, type WorkerSettings } from '../spawn.ts'
import type { ComingChanges } from './coming-changes.ts'
import type { CountsBook } from './counts-book.ts'
import type { ServedTable } from './served-table.ts'
import { TableDelivery } from './table-delivery.ts'

/** How long a new worker has to open its control socket. */
const START_MS = 15_000
const START_POLL_MS = 10
/** A worker that takes longer for keys hangs; it is killed and replaced. */
const TICKETS_MS = 10_000
const COUNTS_MS = 1_000
/** Lines are handed out once, so a late answer would lose them. */
const ACCESS_LINES_MS = 10_000
const RETIRE_MS = 8_000
/** How long a drain may exceed its deadline before the worker counts as hanging. */
const DRAIN_SLACK_MS = 2_000
/** How many pings a worker may leave unanswered before it counts as hanging. */
const MAX_UNANSWERED_PINGS = 3

/** One worker process, started here or left by a previous supervisor. */
export class WorkerLink {
  readonly pid: number
  readonly incarnation: string
  readonly startedAt = monotonicMs()
  retiring = false
  /** Resolves when the process has ended or, for a process that is not a child, its connection. */
  readonly ended: Promise<void>
  #channel: Channel
  #tables: TableDelivery
  #unansweredPings = 0

  constructor(channel: Channel, hello: WorkerHello, child: ChildProcess | null) {
    this.#channel = channel
    this.pid = hello.pid
    this.incarnation = hello.incarnation
    this.#tables = new TableDelivery(channel, (hello.protocol ?? 0) < TARGETS_AS_JSON)
    // Its last report is read before it counts as ended.
    const closed = new Promise<void>((resolve) => {
      channel.onClose = resolve
      if (channel.closed) resolve()
    })
    const exited = new Promise<void>((resolve) => {
      if (!child || child.exitCode !== null || child.signalCode !== null) resolve()
      child?.once('exit', () => resolve())
    })
    this.ended = Promise.all([closed, exited]).then(() => {})
  }

  /** Starts a worker, whose counts go into `book`. Throws if it does not come up. */
  static async spawn(settings: WorkerSettings, book: CountsBook): Promise<WorkerLink> {
    const child = spawnWorker(settings)
    const fault = { text: '' }
    child.once('error', (error) => (fault.text = error.message))
    child.once('exit', (code, signal) => (fault.text ||= `it exited with ${signal ?? code}`))
    const deadline = monotonicMs() + START_MS
    while (fault.text === '' && monotonicMs() < deadline) {
      const link =
        child.pid === undefined
          ? null
          : await WorkerLink.#reach(settings.data_directory, child.pid, child, book)
      if (link) return link
      await sleep(START_POLL_MS)
    }
    child.kill('SIGKILL')
    throw new Error(`a worker did not start: ${fault.text || 'it did not open its control socket'}`)
  }

  /** Connects to every worker that runs in the data directory; removes the sockets of dead ones. */
  static async adoptAll(
    dataDirectory: string,
    known: ReadonlySet<number>,
    book: CountsBook,
  ): Promise<WorkerLink[]> {
    const strangers = workerSocketFiles(dataDirectory).filter(({ pid }) => !known.has(pid))
    const links = await Promise.all(
      strangers.map(async ({ pid, file }) => {
        const link = await WorkerLink.#reach(dataDirectory, pid, null, book)
        if (!link) rmSync(file, { force: true })
        return link
      }),
    )
    return links.filter((link) => link !== null)
  }

  static async #reach(
    dataDirectory: string,
    pid: number,
    child: ChildProcess | null,
    book: CountsBook,
  ): Promise<WorkerLink | null> {
    try {
      // A worker that ends asks for confirmation of its last counts.
      const channel = await connectChannel(workerSocketFile(dataDirectory, pid), () => book.keep())
      channel.onEvent = (event, body) => {
        if (event === 'counts') book.report(body as unknown as WorkerReport)
      }
      const hello = (await channel.request('hello', {}, START_MS)) as WorkerHello
      return new WorkerLink(channel, hello, child)
    } catch (error) {
      // A hanging worker could wake up and accept connections with an outdated table.
      if (!child && error instanceof ChannelError && error.code === 'timeout') endWorker(dataDirectory, pid)
      return null
    }
  }

  /** Gives it a table. Throws the worker's error, such as a listen error. */
  give(table: ServedTable): Promise<BoundListener[]> {
    return this.#tables.give(table)
  }

  /** Passes changes to it while they come. */
  follow(changes: ComingChanges): void {
    this.#tables.follow(changes)
  }

  /** Gives it a table; a serving worker that does not take it is killed. */
  async update(table: ServedTable): Promise<void> {
    try {
      await this.give(table)
    } catch (error) {
      this.#failed(error)
    }
  }

  /** Gives it the keys of TLS session tickets, in base64. */
  async setTicketKeys(keys: string): Promise<void> {
    try {
      await this.#channel.request('tickets', { keys }, TICKETS_MS)
    } catch (error) {
      this.#failed(error)
    }
  }

  async drain(instance: string, deadlineMs: number): Promise<void> {
    try {
      await this.#channel.request('drain', { instance, deadline_ms: deadlineMs }, deadlineMs + DRAIN_SLACK_MS)
    } catch (error) {
      // If the worker has ended, it has no requests left.
      this.#failed(error)
    }
  }

  async report(): Promise<WorkerReport | null> {
    try {
      return (await this.#channel.request('counts', {}, COUNTS_MS)) as WorkerReport
    } catch {
      return null
    }
  }

  /** Takes lines of access logs from it; null if it does not answer, or is older than they are. */
  async accessLines(): Promise<AccessLines | null> {
    try {
      return (await this.#channel.request('access_lines', {}, ACCESS_LINES_MS)) as AccessLines
    } catch {
      return null
    }
  }

  /** Lets it finish what it serves, and end. */
  async retire(limitMs: number, closeIdle: boolean): Promise<void> {
    this.retiring = true
    try {
      await this.#channel.request('retire', { limit_ms: limitMs, close_idle: closeIdle }, RETIRE_MS)
    } catch (error) {
      this.#failed(error)
    }
  }

  /** Pings the worker; it is killed if too many pings were not answered. */
  ping(): void {
    if (this.#unansweredPings >= MAX_UNANSWERED_PINGS) return this.#kill('it does not answer pings')
    this.#unansweredPings++
    this.#channel.request('hello', {}, START_MS).then(
      () => (this.#unansweredPings = 0),
      () => {},
    )
  }

  /** Leaves the worker to another supervisor: what it reports from now on is ignored. */
  leave(): void {
    this.#channel.destroy()
  }

  kill(): void {
    try {
      process.kill(this.pid, 'SIGKILL')
    } catch {
      // It has already ended.
    }
  }

  /** Kills a worker that failed. A retiring one may be of another version and need not understand every request. */
  #failed(error: unknown): void {
    if (this.#channel.closed) return
    if (this.retiring && error instanceof ChannelError && error.code !== 'timeout') {
      log('warn', 'a retiring worker refused a request', { worker: this.pid, error: error.message })
      return
    }
    this.#kill(messageOf(error))
  }

  #kill(why: string): void {
    log('error', 'a worker hangs and is killed', { worker: this.pid, error: why })
    this.kill()
  }
}

/** Kills a worker of this data directory, after checking that no other program has its process id by now. */
function endWorker(dataDirectory: string, pid: number): void {
  try {
    const title = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    if (title.startsWith(`deployer-proxy worker ${dataDirectory}`)) process.kill(pid, 'SIGKILL')
  } catch {
    // It has already ended.
  }
}

import type { ChildProcess } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs } from '../clock.ts'
import { ChannelError, connectChannel, type Channel } from '../control/channel.ts'
import { workerSocketFile, workerSocketFiles } from '../control/paths.ts'
import type { WorkerHello, WorkerReport } from '../control/worker-messages.ts'
import { log, messageOf } from '../log.ts'
import { TARGETS_AS_JSON, type BoundListener } from '../protocol.ts'
import { spawnWorker, type WorkerSettings } from '../spawn.ts'
import type { ComingChanges } from './coming-changes.ts'
import type { CountsBook } from './counts-book.ts'
import type { ServedTable } from './served-table.ts'
import { TableDelivery } from './table-delivery.ts'

/** Time for a new worker to open its control socket. */
const START_MS = 15_000
const START_POLL_MS = 10
/** A worker that does not take keys in this time hangs; it is killed and replaced. */
const TICKETS_MS = 10_000
const COUNTS_MS = 1_000
const RETIRE_MS = 8_000
/** What a drain may take over its deadline before the worker counts as hanging. */
const DRAIN_SLACK_MS = 2_000
/** Signs of life that a worker may owe before it counts as hanging. */
const MAX_BEATS_OWED = 3

/** One worker process, started here or left by a supervisor before. */
export class WorkerLink {
  readonly pid: number
  readonly incarnation: string
  readonly startedAt = monotonicMs()
  retiring = false
  /** Resolves when the process has ended, or, for one that is no child, its connection. */
  readonly ended: Promise<void>
  #channel: Channel
  #tables: TableDelivery
  #beatsOwed = 0

  constructor(channel: Channel, hello: WorkerHello, child: ChildProcess | null) {
    this.#channel = channel
    this.pid = hello.pid
    this.incarnation = hello.incarnation
    this.#tables = new TableDelivery(channel, (hello.protocol ?? 0) < TARGETS_AS_JSON)
    // What it has told last is read before its end is known.
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

  /** Starts a worker, whose counts go into `book`. Throws when it does not come up. */
  static async spawn(settings: WorkerSettings, book: CountsBook): Promise<WorkerLink> {
    const child = spawnWorker(settings)
    const fault = { text: '' }
    child.once('error', (error) => (fault.text = error.message))
    child.once('exit', (code, signal) => (fault.text ||= `it ended with ${signal ?? code}`))
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
    throw new Error(`a worker does not start: ${fault.text || 'it does not open its control socket'}`)
  }

  /** Connects to every worker that runs in the data directory; sockets that dead ones left are removed. */
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
      // A worker that ends asks whether its last counts were heard.
      const channel = await connectChannel(workerSocketFile(dataDirectory, pid), () => book.keep())
      channel.onEvent = (event, body) => {
        if (event === 'counts') book.report(body as unknown as WorkerReport)
      }
      const hello = (await channel.request('hello', {}, START_MS)) as WorkerHello
      return new WorkerLink(channel, hello, child)
    } catch (error) {
      // One that hangs would accept connections again when it wakes, with a table of long ago.
      if (!child && error instanceof ChannelError && error.code === 'timeout') endWorker(dataDirectory, pid)
      return null
    }
  }

  /** Gives it a table. Throws what it answers, such as a listen error. */
  give(table: ServedTable): Promise<BoundListener[]> {
    return this.#tables.give(table)
  }

  /** Gives it changes while they come. */
  follow(changes: ComingChanges): void {
    this.#tables.follow(changes)
  }

  /** Gives a worker a table; a serving one that does not take it is killed. */
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
      // A worker that has ended has no requests left.
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

  /** Has it finish what it serves, and end. */
  async retire(limitMs: number, closeIdle: boolean): Promise<void> {
    this.retiring = true
    try {
      await this.#channel.request('retire', { limit_ms: limitMs, close_idle: closeIdle }, RETIRE_MS)
    } catch (error) {
      this.#failed(error)
    }
  }

  /** Asks for a sign of life; a worker that owes too many is killed. */
  beat(): void {
    if (this.#beatsOwed >= MAX_BEATS_OWED) return this.#kill('it gives no sign of life')
    this.#beatsOwed++
    this.#channel.request('hello', {}, START_MS).then(
      () => (this.#beatsOwed = 0),
      () => {},
    )
  }

  /** Leaves the worker to another supervisor: what it says from now on is not heard here. */
  leave(): void {
    this.#channel.destroy()
  }

  kill(): void {
    try {
      process.kill(this.pid, 'SIGKILL')
    } catch {
      // It has ended already.
    }
  }

  /** A worker of another program, which finishes what it serves, need not understand everything. */
  #failed(error: unknown): void {
    if (this.#channel.closed) return
    if (this.retiring && error instanceof ChannelError && error.code !== 'timeout') {
      log('warn', 'a retiring worker refuses', { worker: this.pid, error: error.message })
      return
    }
    this.#kill(messageOf(error))
  }

  #kill(why: string): void {
    log('error', 'a worker hangs and is killed', { worker: this.pid, error: why })
    this.kill()
  }
}

/** Kills a worker of this data directory; another program may have its number by now. */
function endWorker(dataDirectory: string, pid: number): void {
  try {
    const title = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    if (title.startsWith(`deployer-proxy worker ${dataDirectory}`)) process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

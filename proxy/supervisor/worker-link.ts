import type { ChildProcess } from 'node:child_process'
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { workerSocketFile, workerSocketFiles } from '../control/paths.ts'
import { log, messageOf } from '../log.ts'
import {
  ChannelError,
  connectChannel,
  type BoundListener,
  type Channel,
  type RouteTable,
} from '../protocol.ts'
import { spawnWorker, type WorkerSettings } from '../spawn.ts'
import type { WorkerHello, WorkerReport } from '../worker/worker.ts'

/** Time for a new worker to open its control socket. */
const START_MS = 15_000
const START_POLL_MS = 10
/** A worker that does not take a table in this time hangs; it is killed and replaced. */
const TABLE_MS = 10_000
const COUNTS_MS = 1_000
const RETIRE_MS = 2_000
/** What a drain may take over its deadline before the worker counts as hanging. */
const DRAIN_SLACK_MS = 2_000

/** One worker process, started here or left by a supervisor before. */
export class WorkerLink {
  readonly pid: number
  readonly incarnation: string
  readonly startedAt = performance.now()
  retiring = false
  /** Resolves when the process has ended, or, for one that is no child, its connection. */
  readonly ended: Promise<void>
  onReport: (report: WorkerReport) => void = () => {}
  #channel: Channel

  constructor(channel: Channel, hello: WorkerHello, child: ChildProcess | null) {
    this.#channel = channel
    this.pid = hello.pid
    this.incarnation = hello.incarnation
    channel.onEvent = (event, body) => {
      if (event === 'counts') this.onReport(body as unknown as WorkerReport)
    }
    this.ended = new Promise((resolve) => {
      channel.onClose = () => {
        if (!child || child.exitCode !== null || child.signalCode !== null) resolve()
      }
      child?.once('exit', () => resolve())
      if (channel.closed && !child) resolve()
    })
  }

  /** Starts a worker. Throws when it does not come up. */
  static async spawn(settings: WorkerSettings): Promise<WorkerLink> {
    const child = spawnWorker(settings)
    const fault = { text: '' }
    child.once('error', (error) => (fault.text = error.message))
    child.once('exit', (code, signal) => (fault.text ||= `it ended with ${signal ?? code}`))
    const deadline = performance.now() + START_MS
    while (fault.text === '' && performance.now() < deadline) {
      const link =
        child.pid === undefined ? null : await WorkerLink.#reach(settings.data_directory, child.pid, child)
      if (link) return link
      await sleep(START_POLL_MS)
    }
    child.kill('SIGKILL')
    throw new Error(`a worker does not start: ${fault.text || 'it does not open its control socket'}`)
  }

  /** Connects to every worker that runs in the data directory; sockets that dead ones left are removed. */
  static async adoptAll(dataDirectory: string, known: ReadonlySet<number>): Promise<WorkerLink[]> {
    const strangers = workerSocketFiles(dataDirectory).filter(({ pid }) => !known.has(pid))
    const links = await Promise.all(
      strangers.map(async ({ pid, file }) => {
        const link = await WorkerLink.#reach(dataDirectory, pid, null)
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
  ): Promise<WorkerLink | null> {
    try {
      const channel = await connectChannel(workerSocketFile(dataDirectory, pid), () => null)
      const hello = (await channel.request('hello', {}, START_MS)) as WorkerHello
      return new WorkerLink(channel, hello, child)
    } catch {
      return null
    }
  }

  /** Gives it a table. Throws what the worker answers, such as a listen error. */
  async give(table: RouteTable): Promise<BoundListener[]> {
    const answer = (await this.#channel.request('table', { table }, TABLE_MS)) as {
      listeners: BoundListener[]
    }
    return answer.listeners
  }

  /** Gives a serving worker a table; one that does not take it is killed. */
  async update(table: RouteTable): Promise<void> {
    try {
      await this.give(table)
    } catch (error) {
      if (!this.#channel.closed) this.#kill(error)
    }
  }

  /** Gives it the keys of TLS session tickets, in base64. A worker of an older program takes none. */
  async setTicketKeys(keys: string): Promise<void> {
    try {
      await this.#channel.request('tickets', { keys }, TABLE_MS)
    } catch (error) {
      if (error instanceof ChannelError && error.code === 'unknown') return
      if (!this.#channel.closed) this.#kill(error)
    }
  }

  async drain(instance: string, deadlineMs: number): Promise<void> {
    try {
      await this.#channel.request('drain', { instance, deadline_ms: deadlineMs }, deadlineMs + DRAIN_SLACK_MS)
    } catch (error) {
      // A worker that has ended has no requests left.
      if (!this.#channel.closed) this.#kill(error)
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
      if (!this.#channel.closed) this.#kill(error)
    }
  }

  /** Leaves the worker to another supervisor. */
  leave(): void {
    this.#channel.close()
  }

  kill(): void {
    try {
      process.kill(this.pid, 'SIGKILL')
    } catch {
      // It has ended already.
    }
  }

  #kill(error: unknown): void {
    log('error', 'a worker hangs and is killed', { worker: this.pid, error: messageOf(error) })
    this.kill()
  }
}

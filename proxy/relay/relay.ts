import type { Socket } from 'node:net'
import { countAnswer, countStatus } from '../counts.ts'
import { OpenFiles } from '../sites/open-files.ts'
import { Client } from './client.ts'
import { Peer } from './peer.ts'
import { Routes, type TargetRoute } from './routes.ts'
import { Upstream } from './upstream.ts'

/** All waits are counted in seconds; one timer looks after all connections. */
const TICK_MS = 500
/** Client connections of one worker: each may need a second descriptor, and 1,048,576 is the usual limit of a process. */
const MAX_CONNECTIONS = 100_000
const CLIENT_LEFT = 499

/** Every connection of one worker. */
export class Relay {
  readonly routes = new Routes()
  /** The files of sites that are being sent. */
  readonly files = new OpenFiles()
  /** Monotonic milliseconds, as of the last tick. */
  now = performance.now()
  /** Answers say `Connection: close`, and connections end after them. */
  retiring = false
  /** Called when the last connection of a retiring relay has ended. */
  whenEmpty: () => void = () => {}
  #clients = new Set<Client>()
  #perAddress = new Map<string, number>()
  #timer = setInterval(() => this.#tick(), TICK_MS)

  get openConnections(): number {
    return this.#clients.size
  }

  get openRequests(): number {
    let open = 0
    for (const client of this.#clients) if (client.answering) open++
    return open
  }

  /** Serves an accepted connection. */
  accept(socket: Socket): void {
    const peer = Peer.of(socket, this.routes)
    const client = new Client(this, peer)
    const { address } = client
    const open = address === null ? 0 : (this.#perAddress.get(address) ?? 0)
    if (open >= this.routes.maxConnectionsPerAddress || this.#clients.size >= MAX_CONNECTIONS) {
      socket.on('error', () => {})
      socket.resetAndDestroy()
      return
    }
    if (address !== null) this.#perAddress.set(address, open + 1)
    this.#clients.add(client)
    client.wire.accept(socket)
  }

  /** A client's connection is closed. */
  forget(client: Client): void {
    if (!this.#clients.delete(client)) return
    const { address } = client
    if (address !== null) {
      const open = this.#perAddress.get(address)! - 1
      if (open === 0) this.#perAddress.delete(address)
      else this.#perAddress.set(address, open)
    }
    if (this.retiring && this.#clients.size === 0) this.whenEmpty()
  }

  countAnswer(target: TargetRoute | null, status: number, milliseconds: number): void {
    countAnswer(target?.counts ?? this.routes.unrouted, status, milliseconds / 1000)
  }

  countUpgrade(target: TargetRoute | null): void {
    countStatus(target?.counts ?? this.routes.unrouted, 101)
  }

  countLeft(target: TargetRoute | null): void {
    countStatus(target?.counts ?? this.routes.unrouted, CLIENT_LEFT)
  }

  /**
   * Resolves when no request to the instance is open; after `deadlineMs` those left are cut. New requests do not go
   * there any more when the table says so, which must come first.
   */
  async drain(name: string, deadlineMs: number): Promise<void> {
    const timer = setTimeout(() => {
      for (const client of this.#clients) if (client.instance?.name === name) client.cut()
    }, deadlineMs)
    const waits = this.routes.named(name).map((instance) => {
      instance.closeIdle()
      if (instance.open === 0) return Promise.resolve()
      return new Promise<void>((resolve) => instance.whenIdle.push(resolve))
    })
    await Promise.all(waits)
    clearTimeout(timer)
  }

  /** Lets every connection end after its next answer; with `closeIdle` those that wait for a request end now. */
  retire(closeIdle: boolean): void {
    this.retiring = true
    if (closeIdle) for (const client of this.#clients) client.closeIdle()
    if (this.#clients.size === 0) this.whenEmpty()
  }

  /** Cuts every connection and stops the clock. */
  end(): void {
    clearInterval(this.#timer)
    for (const client of this.#clients) client.cut()
  }

  #tick(): void {
    this.now = performance.now()
    for (const client of this.#clients) client.tick(this.now)
    for (const instance of this.routes.instances()) Upstream.expire(instance, this.now)
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from '#proxy/control/ask.ts'
import { ChannelError, type Channel } from '#proxy/control/channel.ts'
import { SentTable } from '#proxy/table/sent-table.ts'
import { sendTable } from '#proxy/table/message.ts'
import type { AccessLines, BoundListener, ControlRequests, Counts, RouteTable } from '#proxy/protocol.ts'
import { stopProxy } from './find.ts'
import type { Greeted } from './greeting.ts'

/** A supervisor that hands over is unreachable for a moment; only after this it counts as dead. */
const AWAY_MS = 1_000
const TABLE_MS = 30_000
/** Messages of a table in flight at a time. */
const TABLE_WINDOW = 16
const COUNTS_MS = 5_000
/** More than a worker has to answer the supervisor. */
const ACCESS_LINES_MS = 15_000
const DRAIN_SLACK_MS = 5_000
const RECONNECT_FIRST_MS = 100
const RECONNECT_LONGEST_MS = 5_000
/** How often a request is tried if the connection is lost; each request is idempotent. */
const ATTEMPTS = 3
const CLOSED = 'the connection to the proxy was closed'

/** The data plane could not listen on an address. */
export class ProxyListenError extends Error {
  override readonly name = 'ProxyListenError'
  /** `EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL` or `listen_failed`. */
  readonly code: string
  readonly address: string

  constructor(code: string, address: string, message: string) {
    super(message)
    this.code = code
    this.address = address
  }
}

export interface ProxyClientOptions {
  /**
   * Reaches the data plane and attaches to it, waiting so long for one that may be away for a moment. Throws `Error` if there is
   * none, or it belongs to another server.
   */
  reach(patienceMs: number): Promise<Greeted>
  /** The first table, listeners included; without it the data plane keeps its table. */
  table?: RouteTable
  log(message: string, fields?: Record<string, unknown>): void
}

/** The control plane's connection to a data plane. It reconnects by itself. */
export class ProxyClient {
  /** The listeners that are open. */
  bound: BoundListener[] = []
  /** Called when a lost connection is back, maybe to another supervisor, so that the table is sent again. */
  onReconnect: () => void = () => {}
  #options: ProxyClientOptions
  #channel: Channel | null = null
  #connecting: Promise<Channel> | null = null
  #closed = false
  /** The table that was sent last, and over which connection. */
  #sent: { channel: Channel; image: SentTable } | null = null
  /** Settles with the last table: the parts of two tables must not mix. */
  #tables: Promise<unknown> = Promise.resolve()

  private constructor(options: ProxyClientOptions) {
    this.#options = options
  }

  /**
   * Connects to a data plane and sends it the table. Throws `ProxyListenError` if it cannot listen on an address (call again
   * with another), and what `reach` throws.
   */
  static async connect(options: ProxyClientOptions): Promise<ProxyClient> {
    const client = new ProxyClient(options)
    try {
      await client.#connected()
      if (options.table) await client.applyTable(options.table)
      return client
    } catch (error) {
      client.close()
      throw error
    }
  }

  /**
   * Replaces the table in every worker; when this resolves, new requests follow it. Throws `ProxyListenError`, or `Error`
   * if the table is refused; then the previous table stays in force.
   */
  async applyTable(table: RouteTable): Promise<void> {
    const turn = this.#tables.then(() => this.#attempt((channel) => this.#sendTable(channel, table)))
    this.#tables = turn.catch(() => {})
    const { listeners } = (await turn) as { listeners: BoundListener[] }
    this.bound = listeners
  }

  /**
   * Waits until an instance that the table no longer routes to has no open requests, WebSockets included. After
   * `deadlineMs` the remaining ones are cut.
   */
  async drain(instance: string, deadlineMs: number): Promise<void> {
    await this.#ask('drain', { instance, deadline_ms: deadlineMs }, deadlineMs + DRAIN_SLACK_MS)
  }

  /** Returns the counters since the data plane's start. */
  counts(): Promise<Counts> {
    return this.#ask('counts', {}, COUNTS_MS)
  }

  /** Takes the oldest lines of access logs that wait in the data plane. */
  accessLines(): Promise<AccessLines> {
    return this.#ask('access_lines', {}, ACCESS_LINES_MS)
  }

  /** Stops the data plane: nothing is served any more. The client is closed. */
  async stopAll(): Promise<void> {
    const channel = await this.#connected()
    this.#closed = true
    await stopProxy(channel)
  }

  /** Closes the connection; the data plane keeps serving. */
  close(): void {
    this.#closed = true
    this.#channel?.close()
  }

  #ask<Name extends keyof ControlRequests>(
    name: Name,
    body: ControlRequests[Name]['ask'],
    timeoutMs: number,
  ): Promise<ControlRequests[Name]['answer']> {
    return this.#attempt((channel) => ask(channel, name, body, timeoutMs))
  }

  async #attempt<Answer>(request: (channel: Channel) => Promise<Answer>): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await request(await this.#connected())
      } catch (error) {
        if (!(error instanceof ChannelError)) throw error
        if (error.code === 'closed' && !this.#closed && attempt < ATTEMPTS) continue
        throw error.address === undefined
          ? error
          : new ProxyListenError(error.code, error.address, error.message)
      }
    }
  }

  /** Sends what changed since the last table, or the whole table if the last one may not be in use. */
  async #sendTable(channel: Channel, table: RouteTable): Promise<unknown> {
    const known = this.#sent?.channel === channel ? this.#sent.image : null
    this.#sent = null
    const image = known ?? new SentTable()
    try {
      const answer = await sendTable(channel, image.become(table), {
        window: TABLE_WINDOW,
        timeoutMs: TABLE_MS,
      })
      this.#sent = { channel, image }
      return answer
    } catch (error) {
      // Another control plane may have sent a table meanwhile.
      const refused = error instanceof ChannelError && error.code === 'invalid_table'
      if (known && refused) return this.#sendTable(channel, table)
      throw error
    }
  }

  #connected(): Promise<Channel> {
    if (this.#closed) return Promise.reject(new Error(CLOSED))
    if (this.#channel && !this.#channel.closed) return Promise.resolve(this.#channel)
    this.#connecting ??= this.#reach().finally(() => (this.#connecting = null))
    return this.#connecting
  }

  async #reach(): Promise<Channel> {
    const { channel, hello } = await this.#options.reach(this.#channel ? AWAY_MS : 0)
    if (this.#closed) {
      channel.close()
      throw new Error(CLOSED)
    }
    this.bound = hello.listeners
    this.#channel = channel
    channel.onClose = () => this.#lost()
    if (channel.closed) this.#lost()
    return channel
  }

  #lost(): void {
    if (this.#closed) return
    this.#options.log('the connection to the proxy was lost')
    void this.#reconnect()
  }

  async #reconnect(): Promise<void> {
    for (let wait = RECONNECT_FIRST_MS; !this.#closed; wait = Math.min(wait * 2, RECONNECT_LONGEST_MS)) {
      try {
        await this.#connected()
        this.onReconnect()
        return
      } catch (error) {
        if (this.#closed) return
        this.#options.log('the proxy cannot be reached', { error: String(error) })
        await sleep(wait, undefined, { ref: false })
      }
    }
  }
}

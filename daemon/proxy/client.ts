import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  ChannelError,
  PROTOCOL,
  connectChannel,
  controlSocketFile,
  SentTable,
  sendTable,
  type BoundListener,
  type Channel,
  type Counts,
  type Hello,
  type RouteTable,
} from '#proxy/protocol.ts'
import { livingWorkers, stageProgram, startSupervisor, type Program } from './launch.ts'

/** More workers than this relay no faster than one host's services answer. */
const MAX_DEFAULT_WORKERS = 4
const HELLO_MS = 5_000
/** Time for a supervisor to start, its workers included. */
const START_MS = 30_000
const START_POLL_MS = 25
/** A supervisor that hands over is away for a moment; only after this is it taken for dead. */
const AWAY_MS = 1_000
const UPGRADE_MS = 40_000
const TABLE_MS = 30_000
/** Messages of a table under way at a time. */
const TABLE_WINDOW = 16
const COUNTS_MS = 5_000
const DRAIN_SLACK_MS = 5_000
const STOP_MS = 15_000
const RECONNECT_FIRST_MS = 100
const RECONNECT_LONGEST_MS = 5_000
/** A change that met a lost connection is asked again this often; each is idempotent. */
const ATTEMPTS = 3

/** A listen address that the data plane could not have. */
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
  dataDirectory: string
  serverId: string
  version: string
  /** The proxy's program, `proxy.mjs` beside the server's. */
  program: string
  /** The node that runs it. */
  node: string
  /** Worker processes; by default the smaller of the cores and 4. */
  workers?: number
  /** The first table, listeners included; without one the data plane keeps what it has. */
  table?: RouteTable
  log(message: string, fields?: Record<string, unknown>): void
}

/**
 * The control plane's connection to the data plane. It starts the data plane when none answers, has one of another
 * version upgraded, replaces a supervisor that died, and connects again by itself.
 */
export class ProxyClient {
  /** The listeners that are open. */
  bound: BoundListener[] = []
  /** Called when a lost connection is back, maybe with another supervisor: send the table again. */
  onReconnect: () => void = () => {}
  #options: ProxyClientOptions
  #program: Program
  #channel: Channel | null = null
  #connecting: Promise<Channel> | null = null
  #closed = false
  /** The table that was sent last, over which connection. */
  #sent: { channel: Channel; image: SentTable } | null = null
  /** Settles with the last table: the parts of two may not mix. */
  #tables: Promise<unknown> = Promise.resolve()
  #workers: number

  private constructor(options: ProxyClientOptions) {
    this.#options = options
    this.#workers = options.workers ?? Math.min(availableParallelism(), MAX_DEFAULT_WORKERS)
    this.#program = stageProgram(options.dataDirectory, options.program, options.version)
  }

  /**
   * Connects to the data directory's data plane, starting or upgrading it as needed, and gives it the table. Throws
   * `ProxyListenError` when an address cannot be had (call again with another), `Error` when there is no data plane
   * to be had or the one that answers belongs to another server.
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
   * Replaces the table in every worker; new requests follow it when this resolves. Throws `ProxyListenError`, or
   * `Error` when the table is refused; then the one before stays whole.
   */
  async applyTable(table: RouteTable): Promise<void> {
    const turn = this.#tables.then(() => this.#attempt((channel) => this.#sendTable(channel, table)))
    this.#tables = turn.catch(() => {})
    const { listeners } = (await turn) as { listeners: BoundListener[] }
    this.bound = listeners
  }

  /**
   * Resolves when no request, WebSockets included, is open to an instance that the table gives no more requests;
   * after `deadlineMs` those left are cut.
   */
  async drain(instance: string, deadlineMs: number): Promise<void> {
    await this.#ask('drain', { instance, deadline_ms: deadlineMs }, deadlineMs + DRAIN_SLACK_MS)
  }

  /** What was counted since the data plane's start. */
  async counts(): Promise<Counts> {
    return (await this.#ask('counts', {}, COUNTS_MS)) as Counts
  }

  /** Ends the data plane: nothing is served any more. The client is closed. */
  async stopAll(): Promise<void> {
    const channel = await this.#connected()
    this.#closed = true
    await stop(channel)
    channel.close()
  }

  /** Ends the connection; the data plane serves on. */
  close(): void {
    this.#closed = true
    this.#channel?.close()
  }

  #ask(op: string, body: object, timeoutMs: number): Promise<unknown> {
    return this.#attempt((channel) => channel.request(op, body, timeoutMs))
  }

  async #attempt(request: (channel: Channel) => Promise<unknown>): Promise<unknown> {
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

  /** Sends what changed since the last table, or all of it where that is not known to be in use. */
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
    if (this.#closed) return Promise.reject(new Error('the connection to the proxy was closed'))
    if (this.#channel && !this.#channel.closed) return Promise.resolve(this.#channel)
    this.#connecting ??= this.#reach().finally(() => (this.#connecting = null))
    return this.#connecting
  }

  /** Finds, starts or upgrades the data plane and attaches to it. */
  async #reach(): Promise<Channel> {
    const { dataDirectory, serverId } = this.#options
    let found = await greet(dataDirectory, this.#channel ? AWAY_MS : 0)
    if (!found) {
      this.#options.log('starting the proxy', { version: this.#program.version })
      found = await this.#start()
    }
    if (found.hello.server_id !== serverId) {
      found.channel.close()
      throw new Error(`the proxy in ${dataDirectory} (process ${found.hello.pid}) belongs to another server`)
    }
    if (found.hello.version !== this.#program.version || found.hello.protocol !== PROTOCOL) {
      found = await this.#upgrade(found)
    }
    const { channel, hello } = found
    await channel.request('attach', { server_id: serverId, workers: this.#workers }, HELLO_MS)
    this.bound = hello.listeners
    this.#channel = channel
    channel.onClose = () => this.#lost()
    if (channel.closed) this.#lost()
    return channel
  }

  async #start(): Promise<Greeted> {
    const { dataDirectory, node } = this.#options
    const { failed } = await startSupervisor(node, this.#program, {
      data_directory: dataDirectory,
      server_id: this.#options.serverId,
      version: this.#program.version,
      workers: this.#workers,
      inherited: [],
      successor: false,
    })
    failed.catch(() => {})
    const found = await Promise.race([greet(dataDirectory, START_MS), failed])
    if (!found) throw new Error(`the proxy did not start within ${START_MS / 1000} s; see proxy/proxy.log`)
    return found
  }

  /** Has the running data plane replaced by this version's; requests under way are finished by the old one. */
  async #upgrade(old: Greeted): Promise<Greeted> {
    const { dataDirectory, serverId, node } = this.#options
    this.#options.log('upgrading the proxy', { from: old.hello.version, to: this.#program.version })
    await old.channel.request('attach', { server_id: serverId, workers: 0 }, HELLO_MS)
    const ask = { node, program: this.#program.file, version: this.#program.version, workers: this.#workers }
    await old.channel.request('upgrade', ask, UPGRADE_MS)
    old.channel.close()
    const deadline = performance.now() + START_MS
    while (performance.now() < deadline) {
      const found = await greet(dataDirectory, START_MS)
      if (found && found.hello.pid !== old.hello.pid) return found
      found?.channel.close()
      await sleep(START_POLL_MS)
    }
    throw new Error('the upgraded proxy does not answer; see proxy/proxy.log')
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

/** A data plane found in a data directory. */
export interface FoundProxy {
  /** Ends the whole data plane. */
  stop(): Promise<void>
  /** Ends the connection alone. */
  close(): void
}

/** Finds the data plane that runs in a data directory without starting one; null when none does. */
export async function findProxy(dataDirectory: string): Promise<FoundProxy | null> {
  const found = await greet(dataDirectory, 0)
  if (found) {
    const { channel, hello } = found
    return {
      async stop() {
        await channel.request('attach', { server_id: hello.server_id, workers: 0 }, HELLO_MS)
        await stop(channel)
        channel.close()
      },
      close: () => channel.close(),
    }
  }
  const workers = await livingWorkers(dataDirectory)
  if (workers.length === 0) return null
  return {
    async stop() {
      const ended = workers.map((worker) => new Promise<void>((resolve) => (worker.onClose = resolve)))
      const ask = { limit_ms: STOP_MS / 3, close_idle: true }
      for (const worker of workers) worker.request('retire', ask, HELLO_MS).catch(() => worker.destroy())
      await Promise.race([Promise.all(ended), sleep(STOP_MS, undefined, { ref: false })])
    },
    close() {
      for (const worker of workers) worker.close()
    },
  }
}

async function stop(channel: Channel): Promise<void> {
  await channel.request('stop', {}, STOP_MS)
}

interface Greeted {
  channel: Channel
  hello: Hello
}

/** Connects to the control socket and reads its greeting, trying for `patienceMs`; null when nobody is there. */
async function greet(dataDirectory: string, patienceMs: number): Promise<Greeted | null> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    try {
      const channel = await connectChannel(controlSocketFile(dataDirectory), () => null)
      const hello = await new Promise<Hello>((resolve, reject) => {
        const timer = setTimeout(() => {
          channel.destroy()
          reject(new ChannelError('timeout', 'the proxy accepts but does not greet'))
        }, HELLO_MS)
        channel.onEvent = (event, body) => {
          clearTimeout(timer)
          if (event === 'hello') resolve(body as unknown as Hello)
        }
        channel.onClose = () => {
          clearTimeout(timer)
          reject(new ChannelError('closed', 'the proxy ended the connection'))
        }
      })
      channel.onClose = () => {}
      return { channel, hello }
    } catch (error) {
      if (error instanceof ChannelError && error.code === 'timeout') throw error
      if (performance.now() >= deadline) return null
      await sleep(START_POLL_MS)
    }
  }
}

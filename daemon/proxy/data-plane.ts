import { useContext } from '#server/context.ts'
import { messageOf } from '#server/errors.ts'
import type { InstanceStatus } from '#server/instances/states.ts'
import { logger } from '#server/log.ts'
import { setListenerPorts } from '#server/network/public-address.ts'
import type { AccessLines, Counts, ListenerSpec, RouteTable, Upstream } from '#proxy/protocol.ts'
import { ProxyListenError, type ProxyClient } from './client.ts'
import { findProxy } from './find.ts'
import {
  boundPort,
  listenerSpecs,
  otherListeners,
  wantedListeners,
  type WantedListener,
} from './listeners.ts'
import type { OtherPlanes } from './other-planes.ts'
import { connectOwnProxy } from './own-proxy.ts'
import { buildTable, nextTableVersion, NOTHING_AHEAD, type Ahead } from './table.ts'

const log = logger('data plane')

/** The own data plane has a table. */
interface Pushed {
  /** Resolves when those of other nodes that answer have it too. */
  others: Promise<void>
}

/** The control plane's side of the data plane: keeps its route table equal to the database. */
export class DataPlane {
  readonly #client: ProxyClient
  readonly #listeners: ListenerSpec[]
  readonly #apiPort: number
  readonly #ahead: Ahead = { live: new Map(), instances: new Map() }
  /** Where services are reached instead of what is recorded; null for what is recorded. */
  #found: ReadonlyMap<string, Upstream[]> | null = null
  /** The data planes of other nodes; null until there is what brings them about. */
  #others: OtherPlanes | null = null
  /** The last table without its version, which is another one for each. */
  #text = ''
  #version = 0
  /** Whether the own data plane is known to have it. */
  #isInForce = false
  #running: Promise<Pushed> | null = null
  /** Whether a service of the table has an access log. */
  logsAccess = false
  #next: Promise<Pushed> | null = null

  private constructor(client: ProxyClient, listeners: ListenerSpec[], apiPort: number) {
    this.#client = client
    this.#listeners = listeners
    this.#apiPort = apiPort
  }

  /**
   * Finds the data plane, or starts it, and sends it the table. Throws `io_error` if it cannot listen on an address that was
   * set; for a default address it uses another port.
   */
  static async start(program: string, apiPort: number): Promise<DataPlane> {
    const { dataDirectory } = useContext().options
    const former = await findProxy(dataDirectory)
    former?.close()
    try {
      return await DataPlane.#startAnywhere(program, apiPort)
    } catch (error) {
      // A data plane that ran before keeps serving; one that this start created would serve nothing.
      if (!former) await (await findProxy(dataDirectory))?.stop()
      throw error
    }
  }

  static async #startAnywhere(program: string, apiPort: number): Promise<DataPlane> {
    for (let listeners = wantedListeners(); ;) {
      try {
        return await DataPlane.#startAt(program, listeners, apiPort)
      } catch (error) {
        if (!(error instanceof ProxyListenError)) throw error
        listeners = otherListeners(listeners, error)
      }
    }
  }

  static async #startAt(
    program: string,
    listeners: readonly WantedListener[],
    apiPort: number,
  ): Promise<DataPlane> {
    const { options, serverId, version } = useContext()
    const specs = listenerSpecs(listeners)
    const table = buildTable(specs, apiPort, NOTHING_AHEAD)
    const client = await connectOwnProxy({
      dataDirectory: options.dataDirectory,
      serverId,
      version,
      program,
      node: process.execPath,
      maySpawn: options.dataPlane === 'start',
      ...(options.proxyWorkers === null ? {} : { workers: options.proxyWorkers }),
      table: { ...table, version: nextTableVersion() },
      log: (message, fields) => log.info(message, fields),
    })
    const dataPlane = new DataPlane(client, specs, apiPort)
    dataPlane.logsAccess = logsAccess(table)
    client.onReconnect = () => {
      dataPlane.#isInForce = false
      dataPlane
        .sync()
        .catch((error: unknown) =>
          log.error('the data plane did not accept the route table', { error: messageOf(error) }),
        )
    }
    setListenerPorts({
      http: boundPort(listeners, client.bound, 'http') ?? options.httpListen.port,
      https: boundPort(listeners, client.bound, 'https'),
    })
    return dataPlane
  }

  /** Has the data planes of other nodes serve by the same table. */
  lead(others: OtherPlanes): void {
    this.#others = others
  }

  /** The data planes of other nodes. */
  get others(): OtherPlanes | null {
    return this.#others
  }

  /**
   * Sends the data plane, and those of other nodes that answer, the table of the database. Resolves when a table built after
   * this call is in force. Calls during a push share the next one, which does not wait for other nodes.
   */
  async sync(): Promise<void> {
    const { others } = await this.#pushed()
    await others
  }

  #pushed(): Promise<Pushed> {
    if (this.#running === null) return this.#push()
    this.#next ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#next = null
        return this.#push()
      })
    return this.#next
  }

  /** Has other nodes get what a deploy has published, so that the switch to it need not wait for that. Throws only the signal's reason. */
  async prepare(serviceId: string, deployId: string, signal: AbortSignal): Promise<void> {
    if (!this.#others?.counts().size) return
    const ahead = { ...this.#ahead, live: new Map([...this.#ahead.live, [serviceId, deployId]]) }
    const table = buildTable(this.#listeners, this.#apiPort, ahead, this.#found)
    await this.#others.prepare({ ...table, version: this.#version }, this.#client.bound, signal)
  }

  /**
   * Routes a service to the instances of a deploy, then calls `commit` to record it, so that `live` is never reported before
   * it is true. If `commit` throws, the routes go back to what the database says.
   */
  switchOver(serviceId: string, deployId: string, commit: () => void): Promise<void> {
    return this.#routeFirst(this.#ahead.live, serviceId, deployId, commit)
  }

  /** The same for an instance that has come up: `running` is never reported before requests get there. */
  admit(instanceId: string, status: InstanceStatus, commit: () => void): Promise<void> {
    return this.#routeFirst(this.#ahead.instances, instanceId, status, commit)
  }

  async #routeFirst<Value>(
    ahead: Map<string, Value>,
    key: string,
    value: Value,
    commit: () => void,
  ): Promise<void> {
    ahead.set(key, value)
    try {
      await this.sync()
      commit()
    } catch (error) {
      ahead.delete(key)
      // If it cannot be reached, it gets the table once it is back.
      await this.sync().catch(() => {})
      throw error
    } finally {
      ahead.delete(key)
    }
  }

  /** Routes services to what was found in the engine, by service id, until it is called with null. */
  async routeTo(found: ReadonlyMap<string, Upstream[]> | null): Promise<void> {
    this.#found = found
    await this.sync()
  }

  /** Waits until an instance has no open requests; after `deadlineMs` the remaining ones are cut. */
  async drain(instance: string, deadlineMs: number): Promise<void> {
    await Promise.all([this.#client.drain(instance, deadlineMs), this.#others?.drain(instance, deadlineMs)])
  }

  /** Returns the requests by target since the own data plane started. */
  counts(): Promise<Counts> {
    return this.#client.counts()
  }

  /** Takes the oldest lines of access logs that wait in the own data plane; each is handed out once. */
  accessLines(): Promise<AccessLines> {
    return this.#client.accessLines()
  }

  /** Closes the connections; the data planes keep serving. */
  close(): void {
    this.#others?.close()
    this.#client.close()
  }

  #push(): Promise<Pushed> {
    const push = this.#apply().finally(() => {
      this.#running = null
    })
    this.#running = push
    return push
  }

  async #apply(): Promise<Pushed> {
    const table = buildTable(this.#listeners, this.#apiPort, this.#ahead, this.#found)
    this.logsAccess = logsAccess(table)
    const text = JSON.stringify(table)
    if (text !== this.#text) {
      this.#isInForce = false
      this.#text = text
      this.#version = nextTableVersion()
    }
    const next = { ...table, version: this.#version }
    const others = this.#others?.apply(next, this.#client.bound) ?? Promise.resolve()
    if (!this.#isInForce) await this.#send(next)
    return { others }
  }

  async #send(table: RouteTable): Promise<void> {
    this.#isInForce = false
    await this.#client.applyTable(table)
    this.#isInForce = true
  }
}

function logsAccess({ targets }: Pick<RouteTable, 'targets'>): boolean {
  return Object.values(targets).some(({ edge }) => edge?.access_log)
}

import { useContext } from '#server/context.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { setListenerPorts } from '#server/network/public-address.ts'
import type { Counts, ListenerSpec } from '#proxy/protocol.ts'
import { ProxyClient, ProxyListenError } from './client.ts'
import { findProxy } from './find.ts'
import {
  boundPort,
  listenerSpecs,
  otherListeners,
  wantedListeners,
  type WantedListener,
} from './listeners.ts'
import { buildTable, nextTableVersion } from './table.ts'

const log = logger('data plane')

/** The control plane's hold on the data plane: it keeps the route table there as the database has it. */
export class DataPlane {
  readonly #client: ProxyClient
  readonly #listeners: ListenerSpec[]
  readonly #apiPort: number
  readonly #switching = new Map<string, string>()
  /** The table in force without its version; null when that is not known. */
  #inForce: string | null = null
  #running: Promise<void> | null = null
  #next: Promise<void> | null = null

  private constructor(client: ProxyClient, listeners: ListenerSpec[], apiPort: number) {
    this.#client = client
    this.#listeners = listeners
    this.#apiPort = apiPort
  }

  /**
   * Finds the data plane, or starts it, and gives it the table. Throws `io_error` when a named address cannot be had;
   * a default one gives way to another port.
   */
  static async start(program: string, apiPort: number): Promise<DataPlane> {
    const { dataDirectory } = useContext().options
    const former = await findProxy(dataDirectory)
    former?.close()
    try {
      return await DataPlane.#startAnywhere(program, apiPort)
    } catch (error) {
      // One that served before goes on serving; one that this start brought up would serve nothing.
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
    const client = await ProxyClient.connect({
      dataDirectory: options.dataDirectory,
      serverId,
      version,
      program,
      node: process.execPath,
      maySpawn: options.dataPlane === 'start',
      ...(options.proxyWorkers === null ? {} : { workers: options.proxyWorkers }),
      table: { ...buildTable(specs, apiPort, new Map()), version: nextTableVersion() },
      log: (message, fields) => log.info(message, fields),
    })
    const dataPlane = new DataPlane(client, specs, apiPort)
    client.onReconnect = () => {
      dataPlane.#inForce = null
      dataPlane
        .sync()
        .catch((error: unknown) => log.error('the route table was not taken', { error: messageOf(error) }))
    }
    setListenerPorts({
      http: boundPort(listeners, client.bound, 'http') ?? options.httpListen.port,
      https: boundPort(listeners, client.bound, 'https'),
    })
    return dataPlane
  }

  /**
   * Gives the data plane the table as the database has it. Resolves when a table built after this call is in force.
   * Calls during a push share the next one.
   */
  sync(): Promise<void> {
    if (this.#running === null) return this.#push()
    this.#next ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#next = null
        return this.#push()
      })
    return this.#next
  }

  /**
   * Routes a service to the instances of a deploy, then has `commit` record it: so `live` is never told before it is
   * true. When `commit` throws, the routes go back to what the database says.
   */
  async switchOver(serviceId: string, deployId: string, commit: () => void): Promise<void> {
    this.#switching.set(serviceId, deployId)
    try {
      await this.sync()
      commit()
    } catch (error) {
      this.#switching.delete(serviceId)
      // When it cannot be reached it gets the table once it is back.
      await this.sync().catch(() => {})
      throw error
    } finally {
      this.#switching.delete(serviceId)
    }
  }

  /** Resolves when an instance has no request left, at the latest after `deadlineMs`, when those left are cut. */
  drain(instance: string, deadlineMs: number): Promise<void> {
    return this.#client.drain(instance, deadlineMs)
  }

  /** Requests by target since the data plane started. */
  counts(): Promise<Counts> {
    return this.#client.counts()
  }

  /** Ends the connection; the data plane serves on. */
  close(): void {
    this.#client.close()
  }

  #push(): Promise<void> {
    const push = this.#apply().finally(() => {
      this.#running = null
    })
    this.#running = push
    return push
  }

  async #apply(): Promise<void> {
    const table = buildTable(this.#listeners, this.#apiPort, this.#switching)
    const text = JSON.stringify(table)
    if (text === this.#inForce) return
    this.#inForce = null
    await this.#client.applyTable({ ...table, version: nextTableVersion() })
    this.#inForce = text
  }
}

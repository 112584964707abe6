import { useContext } from '#server/context.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import type { ListenAddress } from '#server/options.ts'
import { publicHttpPort, setPublicHttpPort } from '#server/public-address.ts'
import type { Counts } from '#proxy/protocol.ts'
import { ProxyClient, ProxyListenError } from './client.ts'
import { findProxy } from './find.ts'
import { buildTable, nextTableVersion } from './table.ts'

const log = logger('data plane')

/** Instead of a default port that is taken or forbidden. */
const FALLBACK_HTTP_PORT = 8080
/** Codes with which a default address gives way to another port. */
const UNAVAILABLE = new Set(['EADDRINUSE', 'EACCES'])

/** The control plane's hold on the data plane: it keeps the route table there as the database has it. */
export class DataPlane {
  readonly #client: ProxyClient
  readonly #listenAddress: string
  readonly #apiPort: number
  readonly #switching = new Map<string, string>()
  /** The table in force without its version; null when that is not known. */
  #inForce: string | null = null
  #running: Promise<void> | null = null
  #next: Promise<void> | null = null

  private constructor(client: ProxyClient, listenAddress: string, apiPort: number) {
    this.#client = client
    this.#listenAddress = listenAddress
    this.#apiPort = apiPort
  }

  /**
   * Finds the data plane, or starts it, and gives it the table. Throws `io_error` when a named address cannot be had;
   * a default one gives way to port 8080.
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
    const { httpListen } = useContext().options
    const addresses = [httpListen, ...(httpListen.named ? [] : [{ ...httpListen, port: FALLBACK_HTTP_PORT }])]
    for (const address of addresses) {
      const text = formatAddress(address)
      try {
        return await DataPlane.#startAt(program, text, apiPort)
      } catch (error) {
        if (!(error instanceof ProxyListenError)) throw error
        const { code } = error
        if (!UNAVAILABLE.has(code)) {
          throw new AppError('io_error', `--http-listen ${text}: ${error.message}`, { cause: error })
        }
        if (address !== addresses.at(-1)) {
          log.warn(
            `${text} cannot be had (${code}); using port ${FALLBACK_HTTP_PORT}. Free it, or name another with --http-listen.`,
          )
          continue
        }
        const why = code === 'EACCES' ? 'this user may not listen there' : 'another program listens there'
        throw new AppError('io_error', `--http-listen ${text}: ${why}; stop it or name another address`, {
          cause: error,
        })
      }
    }
    throw new AppError('internal_error', 'no address to listen on')
  }

  static async #startAt(program: string, listenAddress: string, apiPort: number): Promise<DataPlane> {
    const { options, serverId, version } = useContext()
    const client = await ProxyClient.connect({
      dataDirectory: options.dataDirectory,
      serverId,
      version,
      program,
      node: process.execPath,
      ...(options.proxyWorkers === null ? {} : { workers: options.proxyWorkers }),
      table: { ...buildTable(listenAddress, apiPort, new Map()), version: nextTableVersion() },
      log: (message, fields) => log.info(message, fields),
    })
    const dataPlane = new DataPlane(client, listenAddress, apiPort)
    client.onReconnect = () => {
      dataPlane.#inForce = null
      dataPlane
        .sync()
        .catch((error: unknown) => log.error('the route table was not taken', { error: messageOf(error) }))
    }
    const bound = client.bound.find(({ address }) => address === listenAddress)
    if (bound) setPublicHttpPort(bound.port)
    return dataPlane
  }

  /** Where services are served. */
  get httpPort(): number {
    return publicHttpPort()
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
    const table = buildTable(this.#listenAddress, this.#apiPort, this.#switching)
    const text = JSON.stringify(table)
    if (text === this.#inForce) return
    this.#inForce = null
    await this.#client.applyTable({ ...table, version: nextTableVersion() })
    this.#inForce = text
  }
}

/** `host:port` as the options and the table spell it. */
export function formatAddress({ host, port }: Pick<ListenAddress, 'host' | 'port'>): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

import type { AccessLines, Counts, RouteTable } from '#proxy/protocol.ts'
import { ProxyClient, type ProxyClientOptions } from '../proxy/client.ts'
import { accessLinesOf, countsOf } from './answers.ts'

/** The connection to the data plane of an entry: its machine may say anything. */
export class EntryClient {
  readonly #client: ProxyClient
  /** The ids of those in the last table that it was given. */
  #targets: ReadonlySet<string> = new Set()

  private constructor(client: ProxyClient) {
    this.#client = client
  }

  /** Connects to an entry, which keeps its table. Throws what `reach` throws. */
  static async connect(options: Omit<ProxyClientOptions, 'table'>): Promise<EntryClient> {
    return new EntryClient(await ProxyClient.connect(options))
  }

  set onReconnect(call: () => void) {
    this.#client.onReconnect = call
  }

  /** See `ProxyClient`. */
  async applyTable(table: RouteTable): Promise<void> {
    await this.#client.applyTable(table)
    this.#targets = new Set(Object.values(table.targets).map(({ id }) => id))
  }

  /** See `ProxyClient`. */
  drain(instance: string, deadlineMs: number): Promise<void> {
    return this.#client.drain(instance, deadlineMs)
  }

  /** See `ProxyClient`. Throws `Error` for an answer that is not right. */
  async counts(): Promise<Counts> {
    return countsOf(await this.#client.counts(), this.#targets)
  }

  /** See `ProxyClient`. Throws `Error` for an answer that is not right. */
  async accessLines(): Promise<AccessLines> {
    return accessLinesOf(await this.#client.accessLines(), this.#targets)
  }

  /** See `ProxyClient`. */
  close(): void {
    this.#client.close()
  }
}

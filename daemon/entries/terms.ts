import type { RouteTable } from '#proxy/protocol.ts'
import type { Greeted } from '../proxy/greeting.ts'

/** By what entries serve. */
export interface Terms {
  /** The table of all entries, with the paths of this server. */
  table: RouteTable
  ports: readonly number[]
  /** The networks whose containers it leads to, as a text that is another one when they change. */
  networks: string
}

/** How a node's entry is brought about and reached. All throw while it cannot be. */
export interface EntryWay {
  /** Makes sure that it runs, at these ports and in the networks of all environments. */
  ensure(ports: readonly number[]): Promise<void>
  reach(): Promise<Greeted>
  /** Brings what a table names, and returns the table with the paths there. */
  deliver(table: RouteTable, signal: AbortSignal): Promise<RouteTable>
  /** Removes there what no table has named for a while. */
  sweep(signal: AbortSignal): Promise<void>
}

/** What an entry tells. */
export interface Listener {
  /** Why it does not serve by the last table; null once it does. */
  onFault(fault: string | null): void
  /** It must be given the table again. */
  onReturn(): void
}

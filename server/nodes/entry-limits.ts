import { useContext } from '../context.ts'
import { isLoopback } from '../network/addresses.ts'
import type { ListenAddress } from '../options/values.ts'
import { listNodes } from './store.ts'

/**
 * How many nodes and entries there can be together. Each has an address in every network across the nodes, of the 16 that
 * engines allot themselves; the network, its gateway and the server's way into it have the others.
 */
export const MAX_NODES_AND_ENTRIES = 13

/** Why so many more nodes and entries cannot be added; null when they can. */
export function lackOfPlaces(more: number): string | null {
  const nodes = listNodes()
  const entries = nodes.filter(({ is_own, is_entry }) => is_own === 0 && is_entry === 1)
  if (nodes.length + entries.length + more <= MAX_NODES_AND_ENTRIES) return null
  return `there can be ${MAX_NODES_AND_ENTRIES} nodes and entries together at most, for which the networks between them have addresses, and there are ${nodes.length} nodes, ${entries.length} of them entries: remove a node, or end an entry`
}

/** Why no other node can serve what the own one does; null when it can. */
export function closedListener(): string | null {
  const { httpListen, httpsListen, tls } = useContext().options
  const listeners = {
    '--http-listen': httpListen,
    ...(tls === 'off' ? {} : { '--https-listen': httpsListen }),
  }
  const closed = Object.entries(listeners).find(([, { host }]) => host === 'localhost' || isLoopback(host))
  return closed ? closedAt(...closed) : null
}

function closedAt(flag: string, { host, port }: ListenAddress): string {
  return `${flag} has the server serve on ${host} alone, but an entry serves port ${port} for everybody: set another address with it first`
}

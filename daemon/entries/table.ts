import { isIP } from 'node:net'
import { addressAt, numberOf, SUBNET_ADDRESSES } from '#server/instances/addresses.ts'
import { isLoopback } from '#server/network/addresses.ts'
import { DASHBOARD_TARGET, type BoundListener, type ListenerSpec, type RouteTable } from '#proxy/protocol.ts'

/** The networks of an environment on the server's own node, and across the nodes. */
export interface TwoNetworks {
  subnet: string | null
  overlay_subnet: string | null
}

/**
 * The table of the own data plane as an entry serves it: at the same ports, which `bound` has, of its own address, but for those
 * that only the server's machine reaches; containers of the server's node are reached through the network across the nodes, and
 * none that is not in it; the dashboard and the names inside networks are left to the server.
 */
export function entryTable(
  table: RouteTable,
  bound: readonly BoundListener[],
  networks: readonly TwoNetworks[],
): RouteTable {
  const overlays = overlaysByStart(networks)
  const across = new Set([...overlays.values()].map(numberOf))
  /** Null for what an entry does not reach. */
  const reached = (host: string): string | null => {
    if (isIP(host) !== 4) return null
    const number = numberOf(host)
    const offset = number % SUBNET_ADDRESSES
    if (across.has(number - offset)) return host
    const overlay = overlays.get(number - offset)
    return overlay === undefined ? null : addressAt(overlay, offset)
  }
  const targets = Object.entries(table.targets)
    .filter(([id]) => id !== DASHBOARD_TARGET)
    .map(([id, target]) => {
      const upstreams = target.upstreams.flatMap((each) => {
        const host = reached(each.host)
        return host === null ? [] : [{ ...each, host }]
      })
      return [id, { ...target, upstreams }] as const
    })
  return {
    ...table,
    listeners: listenersAt(table.listeners, bound),
    hosts: Object.fromEntries(Object.entries(table.hosts).filter(([, id]) => id !== DASHBOARD_TARGET)),
    // The server keeps the key of the dashboard's host.
    certificates: Object.fromEntries(
      Object.entries(table.certificates).filter(([host]) => table.hosts[host] !== DASHBOARD_TARGET),
    ),
    targets: Object.fromEntries(targets),
    zones: {},
  }
}

/** Each port once: on the own node, several addresses may have the same one. */
function listenersAt(listeners: readonly ListenerSpec[], bound: readonly BoundListener[]): ListenerSpec[] {
  const byPort = new Map<number, ListenerSpec>()
  for (const { address, protocol } of listeners) {
    const found = bound.find((each) => each.address === address)
    if (!found) throw new Error(`the data plane does not listen on ${address}`)
    const { host, port } = found
    if (!isLoopback(host) && !byPort.has(port)) byPort.set(port, { address: `0.0.0.0:${port}`, protocol })
  }
  return [...byPort.values()]
}

/** By the number of the first address on the own node; all subnets begin at a multiple of their size. */
function overlaysByStart(networks: readonly TwoNetworks[]): Map<number, string> {
  const known = networks.filter(({ subnet, overlay_subnet }) => subnet !== null && overlay_subnet !== null)
  return new Map(known.map(({ subnet, overlay_subnet }) => [numberOf(subnet!), overlay_subnet!]))
}

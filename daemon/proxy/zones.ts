import { listEnvironments } from '#server/environments/store.ts'
import { addressAt } from '#server/instances/addresses.ts'
import type { NameZone, Upstream } from '#proxy/protocol.ts'

/** A name in every zone, with which a container checks that the resolver answers. No service name begins with a digit. */
export const PROBE_NAME = '0-resolver'
/** An address reserved for documentation, so that no container has it (RFC 5737). */
export const PROBE_ADDRESS = '192.0.2.53'

const LOOPBACK = '127.0.0.1'

/** Collects the addresses of the names in each environment while the table is built. */
export class ZoneBook {
  readonly zones: Record<string, NameZone> = {}

  constructor() {
    for (const { id, subnet } of listEnvironments()) {
      if (subnet === null) continue
      this.zones[id] = { subnet, gateway: addressAt(subnet, 1), names: { [PROBE_NAME]: [PROBE_ADDRESS] } }
    }
  }

  /** Adds a name with the upstreams of its requests, so that the name and the route change together. */
  add(environmentId: string, name: string, upstreams: readonly Upstream[]): void {
    const zone = this.zones[environmentId]
    if (!zone) return
    // The loopback address of a published port is useless to another container.
    zone.names[name] = upstreams.map(({ host }) => host).filter((host) => host !== LOOPBACK)
  }
}

import { listEnvironments } from '#server/environments/store.ts'
import { addressAt } from '#server/instances/addresses.ts'
import type { NameZone, Upstream } from '#proxy/protocol.ts'

/** A name of every zone by which a container tells whether the resolver answers it. No service's name begins with a digit. */
export const PROBE_NAME = '0-resolver'
/** Documentation's, so that no container has it (RFC 5737). */
export const PROBE_ADDRESS = '192.0.2.53'

const LOOPBACK = '127.0.0.1'

/** Collects what the names of each environment lead to, while the table is built. */
export class ZoneBook {
  readonly zones: Record<string, NameZone> = {}

  constructor() {
    for (const { id, subnet } of listEnvironments()) {
      if (subnet === null) continue
      this.zones[id] = { subnet, gateway: addressAt(subnet, 1), names: { [PROBE_NAME]: [PROBE_ADDRESS] } }
    }
  }

  /** Names a service with what its requests are routed to, so that a name and a route change together. */
  add(environmentId: string, name: string, upstreams: readonly Upstream[]): void {
    const zone = this.zones[environmentId]
    if (!zone) return
    // One that is reached by a published port has no address that means anything to a container.
    zone.names[name] = upstreams.map(({ host }) => host).filter((host) => host !== LOOPBACK)
  }
}

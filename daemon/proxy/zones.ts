import { HOST_END, overlayAddress } from '#server/environments/overlay.ts'
import { listEnvironments, type Environment } from '#server/environments/store.ts'
import { addressAt, numberOf, SUBNET_ADDRESSES } from '#server/instances/addresses.ts'
import type { NameZone, Upstream } from '#proxy/protocol.ts'

/** A name in every zone, with which a container checks that the resolver answers. No service name begins with a digit. */
export const PROBE_NAME = '0-resolver'
/** An address reserved for documentation, so that no container has it (RFC 5737). */
export const PROBE_ADDRESS = '192.0.2.53'

const LOOPBACK = '127.0.0.1'

/**
 * Collects the addresses of the names in each environment while the table is built. An environment whose network spans the
 * nodes has two zones: containers on the server's own node ask from its bridge, those of other nodes from its overlay. The
 * former reach each other by the bridge; everything has an address in the overlay.
 */
export class ZoneBook {
  readonly zones: Record<string, NameZone> = {}
  readonly #environments = new Map<string, Environment>()

  constructor() {
    for (const environment of listEnvironments()) {
      const { id, subnet, overlay_subnet } = environment
      if (subnet === null) continue
      this.#environments.set(id, environment)
      this.zones[id] = zone(subnet, addressAt(subnet, 1))
      if (overlay_subnet !== null) this.zones[overlayZone(id)] = zone(overlay_subnet, HOST_END)
    }
  }

  /** Adds a name with the upstreams of its requests, so that the name and the route change together. */
  add(environmentId: string, name: string, upstreams: readonly Upstream[]): void {
    const environment = this.#environments.get(environmentId)
    if (!environment) return
    // The loopback address of a published port is useless to another container.
    const hosts = upstreams.map(({ host }) => host).filter((host) => host !== LOOPBACK)
    this.zones[environmentId]!.names[name] = hosts
    const ofOverlay = this.zones[overlayZone(environmentId)]
    if (ofOverlay) ofOverlay.names[name] = hosts.map((host) => inOverlay(environment, host))
  }
}

function zone(subnet: string, gateway: string): NameZone {
  return { subnet, gateway, names: { [PROBE_NAME]: [PROBE_ADDRESS] } }
}

/** The key of the overlay's zone in the table. */
function overlayZone(environmentId: string): string {
  return `${environmentId} nodes`
}

/** The address in the overlay of an address of either network. */
function inOverlay(environment: Environment, host: string): string {
  const offset = numberOf(host) - numberOf(environment.subnet!)
  return offset >= 0 && offset < SUBNET_ADDRESSES ? overlayAddress(environment, host) : host
}

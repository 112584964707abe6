import type { Run } from './command.ts'

/** A program that sets rules of a host's packet filter: this one's, or another one's if commands run there. */
export interface PacketFilter {
  program: string
  /**
   * Rejects connections from these subnets to these networks. Replaces this server's former rules, with no moment in which
   * neither apply. Throws one line that says why that cannot be done.
   */
  reject(serverId: string, subnets: readonly string[], networks: readonly string[], run?: Run): Promise<void>
  /** Removes this server's rules. Returns what they were called; null if there were none or they cannot be listed. */
  clear(serverId: string, run?: Run): Promise<string | null>
}

/**
 * Name servers of clouds have the same addresses as their metadata services, and the engine's own resolver asks them from
 * the container's network, so traffic to this port passes.
 */
export const DNS_PORT = 53

/** The networks of one family; only IPv6 addresses contain a colon. */
export function ofFamily(family: 'ipv4' | 'ipv6', networks: readonly string[]): string[] {
  return networks.filter((network) => network.includes(':') === (family === 'ipv6'))
}

/** The way of the host's packets into the overlays: a cable to the anchor, whose network namespace is in all of them. */
export interface Way {
  /** The name of the cable's ends, here and there. */
  device: string
  /** The address of the end here, where the resolver listens. */
  hostEnd: string
  overlays: readonly { subnet: string; nameServer: string }[]
}

export interface WayFilter {
  /**
   * Lets nothing onto the cable but the host's own packets, and from it into the host only answers and questions to the
   * resolver. Containers must not get from one private network into another through the host.
   */
  guard(serverId: string, way: Way): Promise<void>
  /**
   * In the anchor's namespace: lets the host's packets into the overlays, where they come from the anchor, and questions to
   * the anchor's addresses out to the resolver. Nothing else passes.
   */
  lead(namespace: string, way: Way): Promise<void>
  /** Removes what `guard` has set, if anything. */
  unguard(serverId: string): Promise<void>
}

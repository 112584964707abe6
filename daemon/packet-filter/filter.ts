/** A program that sets rules of the host's packet filter. */
export interface PacketFilter {
  program: string
  /**
   * Rejects connections from these subnets to these networks. Replaces this server's former rules, with no moment in which
   * neither apply. Throws one line that says why that cannot be done.
   */
  reject(serverId: string, subnets: readonly string[], networks: readonly string[]): Promise<void>
  /** Removes this server's rules. Returns what they were called; null if there were none or they cannot be listed. */
  clear(serverId: string): Promise<string | null>
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

/** A program that sets rules of the host's packet filter. */
export interface PacketFilter {
  program: string
  /**
   * Rejects connections from these subnets to these networks. Replaces the rules that this server had before, with no moment
   * in which neither hold. Throws one line that says why that cannot be done.
   */
  reject(serverId: string, subnets: readonly string[], networks: readonly string[]): Promise<void>
  /** Removes this server's rules. Returns what they were called; null where there were none, or they cannot be listed. */
  clear(serverId: string): Promise<string | null>
}

/**
 * Name servers of clouds are at the same addresses as their metadata services, and the engine's own resolver asks them from
 * the network of the container: what goes to this port passes.
 */
export const DNS_PORT = 53

/** Those of one family: nothing but IPv6 has a colon in it. */
export function ofFamily(family: 'ipv4' | 'ipv6', networks: readonly string[]): string[] {
  return networks.filter((network) => network.includes(':') === (family === 'ipv6'))
}

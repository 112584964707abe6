import { messageOf } from '#server/errors.ts'
import { METADATA_NETWORKS } from '#server/network/addresses.ts'
import type { Run } from './command.ts'
import { iptables } from './iptables.ts'
import { nftables } from './nftables.ts'

/** The preferred one comes first. */
const FILTERS = [nftables, iptables]

/**
 * Has a packet filter reject connections from these subnets to metadata addresses, and returns the program that did it: this
 * host's, unless `run` runs commands elsewhere. Throws one line that says why no program could.
 */
export async function rejectMetadata(
  serverId: string,
  subnets: readonly string[],
  run?: Run,
): Promise<string> {
  const faults: string[] = []
  for (const filter of FILTERS) {
    try {
      await filter.reject(serverId, subnets, METADATA_NETWORKS, run)
      return filter.program
    } catch (error) {
      faults.push(messageOf(error))
    }
  }
  throw new Error(faults.join('; '))
}

/** Removes the rules that a server has set; returns what they were called. */
export async function removeRules(serverId: string, run?: Run): Promise<string[]> {
  const cleared = await Promise.all(FILTERS.map((filter) => filter.clear(serverId, run)))
  return cleared.filter((name) => name !== null)
}

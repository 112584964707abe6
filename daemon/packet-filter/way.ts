import { messageOf } from '#server/errors.ts'
import type { Way, WayFilter } from './filter.ts'
import { guardByIptables, leadByIptables, unguardByIptables } from './way-iptables.ts'
import { guardByNft, leadByNft, unguardByNft } from './way-nftables.ts'

/** The preferred one comes first. */
const FILTERS: WayFilter[] = [
  { guard: guardByNft, lead: leadByNft, unguard: unguardByNft },
  { guard: guardByIptables, lead: leadByIptables, unguard: unguardByIptables },
]

/** Sets the rules at both ends of the way, in place of former ones. Throws one line that says why no program could. */
export async function filterWay(serverId: string, namespace: string, way: Way): Promise<void> {
  const faults: string[] = []
  for (const filter of FILTERS) {
    try {
      await filter.guard(serverId, way)
      return await filter.lead(namespace, way)
    } catch (error) {
      faults.push(messageOf(error))
    }
  }
  throw new Error([...new Set(faults)].join('; '))
}

/** Removes the rules on the host. Those in the anchor's namespace are gone with it. */
export async function unfilterWay(serverId: string): Promise<void> {
  for (const filter of FILTERS) await filter.unguard(serverId)
}

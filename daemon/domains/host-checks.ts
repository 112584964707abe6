import { dnsOf } from '#server/environments/dns.ts'
import { isLocalName } from '#server/domains/names.ts'
import { reachesServer } from '#server/domains/operations.ts'
import { addressRecords } from '#server/domains/records.ts'
import type { DomainCheck, HostCheck } from '#server/domains/schema.ts'
import { forEachLimited } from '../work/each.ts'
import { checkDomain, checkHost } from './checks.ts'

/** Names checked in parallel, so that a slow resolver does not delay the others. */
const PARALLEL = 4
const WILDCARD = '*.'

/** Checks a host that has records of its own; a local name needs none. */
export async function checkCustomDomain(host: string): Promise<HostCheck> {
  if (isLocalName(host)) return { name: host, leads_here: true, records: [], checks: [] }
  return judged(host, await checkHost(host), addressRecords(host, true))
}

/** Checks the wildcard of an environment under each domain that is not local. */
export async function checkEnvironment(environment: { name: string }): Promise<HostCheck[]> {
  const places = dnsOf(environment)
  const found = new Map<string, HostCheck>()
  await forEachLimited(places, PARALLEL, async ({ wildcard, records }) => {
    const checks = await checkDomain(wildcard.slice(WILDCARD.length))
    found.set(wildcard, judged(wildcard, checks, records))
  })
  return places.map(({ wildcard }) => found.get(wildcard)!)
}

function judged(name: string, checks: DomainCheck[], records: HostCheck['records']): HostCheck {
  return { name, leads_here: reachesServer(checks), records, checks }
}

import { randomBytes } from 'node:crypto'
import { messageOf } from '#server/errors.ts'
import { dashboardUnder, isEntryAddress, isServerAddress, ownRecords } from '#server/domains/records.ts'
import type { DomainCheck } from '#server/domains/schema.ts'
import { publicHttpPort } from '#server/network/public-address.ts'
import { addressFault } from '#server/network/addresses.ts'
import { DESTINATIONS } from '#server/network/judged.ts'
import { addressesOfEntries } from '#server/nodes/entries.ts'
import { probeHost } from './probe.ts'
import { resolveAddresses } from './resolve.ts'

const LABEL_BYTES = 6

/** A name under a domain that nobody has given to a host, so that only the wildcard record answers for it. */
export function madeUpName(domain: string): string {
  return `check-${randomBytes(LABEL_BYTES).toString('hex')}.${domain}`
}

/**
 * Checks where a made-up name under a domain leads, so that the wildcard record is checked. If the dashboard is under it and
 * leads astray, that is told after it: services are reached nevertheless.
 */
export async function checkDomain(domain: string, signal?: AbortSignal): Promise<DomainCheck[]> {
  const dashboard = dashboardUnder(domain)
  const [checks, message] = await Promise.all([
    checkHost(madeUpName(domain), signal),
    dashboard === null ? null : strayingDashboard(dashboard, signal),
  ])
  return message === null ? checks : [...checks, { kind: 'dns', outcome: 'failed', message }]
}

/** Why visitors of the dashboard's host may come to a node that does not serve it; null if they do not. */
export async function strayingDashboard(host: string, signal?: AbortSignal): Promise<string | null> {
  if (addressesOfEntries().length === 0) return null
  const addresses = await resolveAddresses(host, signal).catch(() => [])
  const others = addresses.filter(isEntryAddress)
  if (others.length === 0) return null
  const needed = ownRecords(host).map(({ type, value }) => `${type} ${value}`)
  return `${host} also leads to ${others.join(', ')}, an entry, which does not serve the dashboard: ${host} needs records of its own with the server's own addresses alone${needed.length > 0 ? ` (${needed.join(', ')})` : ''}`
}

/** Checks the DNS records of a host, and whether this server answers there. What `signal` ends has failed. */
export async function checkHost(host: string, signal?: AbortSignal): Promise<DomainCheck[]> {
  let addresses: string[]
  try {
    addresses = await resolveAddresses(host, signal)
  } catch (error) {
    return unresolved(messageOf(error))
  }
  if (addresses.length === 0) return unresolved(`${host} has no address: create the records`)
  const dns = judgeAddresses(host, addresses)
  return [dns, await askAddress(host, addresses, dns.outcome === 'passed', signal)]
}

function unresolved(message: string): DomainCheck[] {
  return [
    { kind: 'dns', outcome: 'failed', message },
    { kind: 'http', outcome: 'skipped', message: 'skipped, because there is no address to check' },
  ]
}

function judgeAddresses(host: string, addresses: readonly string[]): DomainCheck {
  const listed = addresses.join(', ')
  if (addresses.some(isServerAddress))
    return { kind: 'dns', outcome: 'passed', message: `${host} resolves to ${listed}, which is this server` }
  return {
    kind: 'dns',
    outcome: 'failed',
    message: `${host} resolves to ${listed}, which is not an address of this server (a proxy or router in front of it may have it)`,
  }
}

async function askAddress(
  host: string,
  addresses: readonly string[],
  isOwn: boolean,
  signal: AbortSignal | undefined,
): Promise<DomainCheck> {
  const address = addresses[0]!
  // The owner of a name can point it anywhere. Private addresses are allowed, because this server may have one.
  const fault = addressFault(address, publicHttpPort(), DESTINATIONS)
  if (fault !== null) return { kind: 'http', outcome: 'failed', message: `${address} ${fault}` }
  const { outcome, message } = await probeHost(host, { address, port: publicHttpPort() }, signal)
  if (outcome === 'here') return { kind: 'http', outcome: 'passed', message }
  // Behind many routers a host cannot reach itself by its public address.
  const isUnknown = outcome === 'unreachable' && isOwn
  return { kind: 'http', outcome: isUnknown ? 'skipped' : 'failed', message }
}

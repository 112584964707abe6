import { readFileSync } from 'node:fs'
import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { useContext } from '../context.ts'
import type { DnsRecord } from '../environments/schema.ts'
import { addressesOfEntries } from '../nodes/entries.ts'

/** Addresses at which no other host reaches this one (RFC 1122 3.2.1.3, RFC 3927, RFC 4291 2.5.3 and 2.5.6). */
const UNREACHABLE = new BlockList()
UNREACHABLE.addSubnet('127.0.0.0', 8)
UNREACHABLE.addSubnet('169.254.0.0', 16)
UNREACHABLE.addAddress('::1', 'ipv6')
UNREACHABLE.addSubnet('fe80::', 10, 'ipv6')

/** The part of IPv6 that is allocated for the internet (2000::/3). */
const isPublicV6 = (address: string): boolean => isIP(address) === 6 && /^[23]/.test(address)

/**
 * The DNS records that point a name to each node that serves requests. For visitors without IPv6 only the A records can be
 * required.
 */
export function addressRecords(name: string, required: boolean): DnsRecord[] {
  return recordsOf(name, new Set([...ownAddresses(), ...addressesOfEntries()]), required)
}

function recordsOf(name: string, addresses: Iterable<string>, required: boolean): DnsRecord[] {
  return [...addresses].map((value) => {
    const isV4 = isIP(value) === 4
    return { name, type: isV4 ? 'A' : 'AAAA', value, required: required && isV4 }
  })
}

/** The DNS records of a domain: a wildcard for all services, and optionally the domain itself. */
export function domainRecords(domain: string): DnsRecord[] {
  const dashboard = dashboardRecords(domain)
  const hasOwn = dashboard.some(({ name }) => name === domain)
  return [
    ...addressRecords(`*.${domain}`, true),
    ...(hasOwn ? [] : addressRecords(domain, false)),
    ...dashboard,
  ]
}

/** The dashboard is served by the own node alone, so that the wildcard of several nodes does not do for it. */
function dashboardRecords(domain: string): DnsRecord[] {
  const host = dashboardUnder(domain)
  return host !== null && addressesOfEntries().length > 0 ? ownRecords(host) : []
}

/** The dashboard's host if it is a domain or under it, otherwise null. */
export function dashboardUnder(domain: string): string | null {
  const host = useContext().options.dashboardHost
  return host !== null && (host === domain || host.endsWith(`.${domain}`)) ? host : null
}

/** The DNS records that point a name to the server's own node alone. */
export function ownRecords(name: string): DnsRecord[] {
  return recordsOf(name, ownAddresses(), true)
}

/** Whether an address in DNS leads to a node of this server that serves requests. */
export function isServerAddress(address: string): boolean {
  return isOwnAddress(address) || addressesOfEntries().includes(address)
}

/** Whether an address in DNS leads to another node than the server's own, which serves requests. */
export function isEntryAddress(address: string): boolean {
  return !isOwnAddress(address) && addressesOfEntries().includes(address)
}

function isOwnAddress(address: string): boolean {
  return [...useContext().options.publicIps, ...interfaceAddresses()].includes(address)
}

/** `--public-ip`, or else the IPv4 address of the interface with the default route, and a public IPv6 address if any. */
function ownAddresses(): string[] {
  const { publicIps } = useContext().options
  if (publicIps.length > 0) return publicIps
  const leading = (networkInterfaces()[defaultInterface() ?? ''] ?? []).map(({ address }) => address)
  const all = [...leading, ...interfaceAddresses()]
  const v4 = all.find((address) => isIP(address) === 4 && !UNREACHABLE.check(address))
  return [v4, all.find(isPublicV6)].filter((address) => address !== undefined)
}

function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ address, family }) => !UNREACHABLE.check(address, family === 'IPv6' ? 'ipv6' : 'ipv4'))
    .map(({ address }) => address)
}

/** The interface of the default route (proc(5)); null on a host without one. */
function defaultInterface(): string | null {
  try {
    const routes = readFileSync('/proc/net/route', 'latin1').split('\n').slice(1)
    const columns = routes.map((route) => route.split('\t'))
    return (
      columns.find(
        ([, destination, , , , , , mask]) => destination === '00000000' && mask === '00000000',
      )?.[0] ?? null
    )
  } catch {
    return null
  }
}

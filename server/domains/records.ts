import { readFileSync } from 'node:fs'
import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { useContext } from '../context.ts'
import type { DnsRecord } from '../environments/schema.ts'

/** Addresses by which nobody else reaches this host (RFC 1122 3.2.1.3, RFC 3927, RFC 4291 2.5.3 and 2.5.6). */
const OWN_ALONE = new BlockList()
OWN_ALONE.addSubnet('127.0.0.0', 8)
OWN_ALONE.addSubnet('169.254.0.0', 16)
OWN_ALONE.addAddress('::1', 'ipv6')
OWN_ALONE.addSubnet('fe80::', 10, 'ipv6')

/** All that is given out of IPv6 for the internet. */
const isPublicV6 = (address: string): boolean => isIP(address) === 6 && /^[23]/.test(address)

/** The records that point a name at the server: for visitors without IPv6 that of IPv4 is needed, the other helps. */
export function addressRecords(name: string, required: boolean): DnsRecord[] {
  return shownAddresses().map((value) => {
    const isV4 = isIP(value) === 4
    return { name, type: isV4 ? 'A' : 'AAAA', value, required: required && isV4 }
  })
}

/** What DNS needs for a domain: one wildcard for every service, and the domain itself for who wants it. */
export function domainRecords(domain: string): DnsRecord[] {
  return [...addressRecords(`*.${domain}`, true), ...addressRecords(domain, false)]
}

/** Whether an address is one that DNS may lead to this server with. */
export function isServerAddress(address: string): boolean {
  if (useContext().options.publicIps.includes(address)) return true
  return interfaceAddresses().includes(address)
}

/** `--public-ip`, else the address of the interface with the default route, and a public one of IPv6 where there is one. */
function shownAddresses(): string[] {
  const { publicIps } = useContext().options
  if (publicIps.length > 0) return publicIps
  const leading = (networkInterfaces()[defaultInterface() ?? ''] ?? []).map(({ address }) => address)
  const all = [...leading, ...interfaceAddresses()]
  const v4 = all.find((address) => isIP(address) === 4 && !OWN_ALONE.check(address))
  return [v4, all.find(isPublicV6)].filter((address) => address !== undefined)
}

function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ address, family }) => !OWN_ALONE.check(address, family === 'IPv6' ? 'ipv6' : 'ipv4'))
    .map(({ address }) => address)
}

/** The interface of the route to everywhere, by proc(5); null on a host without one. */
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

import { isIPv6 } from 'node:net'

/** What one customer of a provider has at least: a /64 of IPv6 (RFC 6177). */
const CUSTOMER_GROUPS = 4
/** What a tunnel broker gives away: a /48. */
const SITE_GROUPS = 3
/** Neighbours of IPv4 are mostly of one owner. */
const NEIGHBOUR_OCTETS = 3

/** Whose allowance an address counts on: an IPv4 address alone, or a /64 of IPv6. */
export function networkOf(address: string): string {
  return isIPv6(address) ? groupsOf(address, CUSTOMER_GROUPS) : address
}

/** The site of an address, whose owner has many networks: a /24 of IPv4, a /48 of IPv6. */
export function siteOf(address: string): string {
  if (isIPv6(address)) return groupsOf(address, SITE_GROUPS)
  return address.split('.').slice(0, NEIGHBOUR_OCTETS).join('.')
}

function groupsOf(address: string, count: number): string {
  const [start = [], end] = address.split('::').map((part) => (part === '' ? [] : part.split(':')))
  const missing = end === undefined ? 0 : Math.max(8 - start.length - end.length, 0)
  const groups = [...start, ...Array<string>(missing).fill('0'), ...(end ?? [])]
  return groups
    .slice(0, count)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}

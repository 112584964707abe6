import { isIPv6 } from 'node:net'

/** Groups of an IPv6 address that name one customer: providers give each customer at least a /64 (RFC 6177). */
const CUSTOMER_GROUPS = 4
/** Groups that name a site: tunnel brokers give away a /48. */
const SITE_GROUPS = 3
/** Octets of an IPv4 address that name a neighbourhood, which mostly has one owner. */
const NEIGHBOUR_OCTETS = 3

/** Returns the network whose allowance an address uses: an IPv4 address alone, or a /64 of IPv6. */
export function networkOf(address: string): string {
  return isIPv6(address) ? groupsOf(address, CUSTOMER_GROUPS) : address
}

/** Returns the site of an address, whose owner may have many networks: a /24 of IPv4, a /48 of IPv6. */
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

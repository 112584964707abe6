import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'
import { isLoopback } from './browser-address.ts'

/** What one customer of a provider has at least: a /64 of IPv6 (RFC 6177). */
const CUSTOMER_GROUPS = 4
/** What a tunnel broker gives away: a /48. */
const SITE_GROUPS = 3
/** Neighbours of IPv4 are mostly of one owner. */
const NEIGHBOUR_OCTETS = 3

/**
 * The address that a request comes from. Behind our own data plane, or another proxy on this host, it is the last that
 * is told in `X-Forwarded-For` and is none of the `trusted` proxies (CIDRs); a peer from elsewhere is not believed.
 * `X-Real-IP` counts for nothing: some proxies hand on what the client sent.
 */
export function clientAddress(request: IncomingMessage, trusted: readonly string[]): string {
  const peer = request.socket.remoteAddress ?? ''
  if (!isLoopback(peer)) return plain(peer)
  const proxies = new BlockList()
  for (const [network, prefix] of trusted.map((cidr) => cidr.split('/') as [string, string]))
    proxies.addSubnet(network, Number(prefix), familyOf(network))
  const chain = (request.headers['x-forwarded-for']?.toString().split(',') ?? []).map((text) =>
    plain(text.trim()),
  )
  const told = chain.findLast((address) => !proxies.check(address, familyOf(address)))
  return told !== undefined && isIP(told) !== 0 ? told : plain(peer)
}

/** Whose allowance an address counts on: an IPv4 address alone, or a /64 of IPv6. */
export function networkOf(address: string): string {
  return isIPv6(address) ? groupsOf(address, CUSTOMER_GROUPS) : address
}

/** Who has many networks of their own: a /24 of IPv4, a /48 of IPv6. */
export function siteOf(address: string): string {
  if (isIPv6(address)) return groupsOf(address, SITE_GROUPS)
  return address.split('.').slice(0, NEIGHBOUR_OCTETS).join('.')
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4'
}

function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '')
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

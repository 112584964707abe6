import type { IncomingMessage } from 'node:http'
import { isIP, isIPv6 } from 'node:net'
import { isLoopback } from './browser-address.ts'

/**
 * The address that a request comes from. Behind our own data plane, or another proxy on this host, it is what that says;
 * a peer from elsewhere is not believed.
 */
export function clientAddress(request: IncomingMessage): string {
  const peer = request.socket.remoteAddress ?? ''
  const { 'x-real-ip': named, 'x-forwarded-for': chain } = request.headers
  const told = isLoopback(peer) ? [named, chain?.toString().split(',').at(-1)] : []
  const address = told.map((text) => text?.toString().trim() ?? '').find((text) => isIP(text) !== 0) ?? peer
  return address.replace(/^::ffff:(?=\d+\.)/i, '')
}

/** What one customer of a provider has: an IPv4 address, or a /64 of IPv6 (RFC 6177 gives each at least that). */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [start = [], end] = address.split('::').map((part) => (part === '' ? [] : part.split(':')))
  const missing = end === undefined ? 0 : Math.max(8 - start.length - end.length, 0)
  const groups = [...start, ...Array<string>(missing).fill('0'), ...(end ?? [])]
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}

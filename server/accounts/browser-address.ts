import type { IncomingMessage } from 'node:http'
import { BlockList, isIPv6 } from 'node:net'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/**
 * Scheme, host and port as the browser used them, or null when they cannot be read. Behind our own data plane, or another
 * proxy on this host, that is what it forwards; a peer from elsewhere is not believed. With several proxies the first value
 * is the outermost's. X-Forwarded-Port plays no part: it is the proxy's port, while the browser's stands in Host.
 */
export function browserAddress(request: IncomingMessage): URL | null {
  const believed = isLoopback(request.socket.remoteAddress)
  const forwarded = (name: string) => (believed ? first(request.headers[name]) : undefined)
  const scheme = forwarded('x-forwarded-proto')?.toLowerCase() ?? 'http'
  const host = forwarded('x-forwarded-host') ?? request.headers.host
  if ((scheme !== 'http' && scheme !== 'https') || !host || /[/\\?#@\s]/.test(host)) return null
  return URL.parse(`${scheme}://${host}`)
}

/**
 * Whether a change comes from a page of our own: `Origin` must be exactly the address the browser used (`null` never is);
 * without it the browser must say `same-origin` or, typed in by its user, `none`; with neither it is refused.
 */
export function isOwnOrigin(request: IncomingMessage): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers
  if (origin === undefined) return site === 'same-origin' || site === 'none'
  return origin === browserAddress(request)?.origin
}

/** Whether a peer is a program of this host. */
export function isLoopback(address: string | undefined): boolean {
  if (!address) return false
  return loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

function first(value: string | string[] | undefined): string | undefined {
  return (Array.isArray(value) ? value[0] : value)?.split(',')[0]?.trim() || undefined
}

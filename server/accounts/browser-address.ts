import type { IncomingMessage } from 'node:http'
import { isLoopback } from '../network/addresses.ts'

/**
 * The scheme, host and port that the browser used, or null when they cannot be read. Behind our own data plane, or another
 * proxy on this host, they are what it forwards; a peer on another host is not trusted. With several proxies the first value
 * is the outermost's. X-Forwarded-Port is ignored: it is the proxy's port, while the browser's is in Host.
 */
export function browserAddress(request: IncomingMessage): URL | null {
  const trusted = isLoopback(request.socket.remoteAddress ?? '')
  const forwarded = (name: string) => (trusted ? first(request.headers[name]) : undefined)
  const scheme = forwarded('x-forwarded-proto')?.toLowerCase() ?? 'http'
  const host = forwarded('x-forwarded-host') ?? request.headers.host
  if ((scheme !== 'http' && scheme !== 'https') || !host || /[/\\?#@\s]/.test(host)) return null
  return URL.parse(`${scheme}://${host}`)
}

/**
 * Whether a change comes from one of our own pages: `Origin` must be exactly the address the browser used (`null` never is);
 * without `Origin`, `Sec-Fetch-Site` must be `same-origin` or `none` (typed in by the user); with neither it is refused.
 */
export function isOwnOrigin(request: IncomingMessage): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers
  if (origin === undefined) return site === 'same-origin' || site === 'none'
  return origin === browserAddress(request)?.origin
}

function first(value: string | string[] | undefined): string | undefined {
  return (Array.isArray(value) ? value[0] : value)?.split(',')[0]?.trim() || undefined
}

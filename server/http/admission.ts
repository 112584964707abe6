import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { AppError } from '../errors.ts'
import { bareHost } from '../network/addresses.ts'
import type { Options } from '../options/index.ts'

/**
 * Checks a request before anything else looks at it: its target becomes a path, and its host must be one of the server's own
 * names. So a page under another name that resolves here (DNS rebinding) learns nothing.
 *
 * The returned function throws `invalid_request` or `misdirected_request`.
 */
export function admission(
  options: Pick<Options, 'dashboardHost' | 'allowedHosts'>,
): (request: IncomingMessage) => void {
  const machine = hostname().toLowerCase()
  const names = new Set(['localhost', machine, machine.split('.')[0], ...options.allowedHosts])
  if (options.dashboardHost !== null) names.add(options.dashboardHost)
  return (request) => {
    toOriginForm(request)
    const { host } = request.headers
    // Only HTTP/1.0 may leave out Host, and no browser speaks it (RFC 9112 section 3.2).
    if (host === undefined && request.httpVersion === '1.0') return
    const name = request.headersDistinct.host?.length === 1 ? hostOf(host ?? '') : null
    if (name === null)
      throw new AppError(
        'invalid_request',
        'the request must have one Host header, with a name or an address',
      )
    if (isAddress(name) || name.endsWith('.localhost') || names.has(name)) return
    throw new AppError(
      'misdirected_request',
      `${name} is not one of this server's host names: add it with --allowed-hosts`,
    )
  }
}

/** Accepts a target with scheme and host, whose host then replaces the header (RFC 9112 section 3.2.2). */
function toOriginForm(request: IncomingMessage): void {
  const { url = '' } = request
  const absolute = /^https?:\/\/[^/?#]*/i.exec(url)?.[0]
  if (absolute === undefined) return
  const rest = url.slice(absolute.length)
  request.headers.host = absolute.slice(absolute.indexOf('//') + 2)
  request.url = rest.startsWith('/') ? rest : `/${rest}`
}

/** The name or address in a Host header, as a browser would write it; null when there is none. */
function hostOf(host: string): string | null {
  if (/[/\\?#@\s]/.test(host)) return null
  const name = URL.parse(`http://${host}`)?.hostname.replace(/\.$/, '')
  return name || null
}

function isAddress(name: string): boolean {
  return isIP(bareHost(name)) !== 0
}

import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { AppError } from '../../errors.ts'
import { bareHost } from '../../network/addresses.ts'
import { browserAddress } from '../browser-address.ts'

/** Where the browser sees the dashboard. */
export interface Site {
  /** The host's name, without port: the relying party's id in WebAuthn's words. */
  host: string
  origin: string
}

/** The site of a request, or null when it cannot be read. */
export function siteOf(request: IncomingMessage): Site | null {
  const address = browserAddress(request)
  return address && { host: address.hostname, origin: address.origin }
}

/**
 * The site of a request about passkeys. It is exactly the host in use, never a parent, whose other hosts may be services.
 * Throws `invalid_request` at an IP address, for which there are no passkeys.
 */
export function passkeySiteOf(request: IncomingMessage): Site {
  const site = siteOf(request)
  if (!site) {
    throw new AppError(
      'invalid_request',
      'the address of the dashboard cannot be read from the request: let the proxy in front send X-Forwarded-Proto and X-Forwarded-Host',
    )
  }
  if (isIP(bareHost(site.host)) === 0) return site
  throw new AppError(
    'invalid_request',
    `passkeys belong to a host name, and this dashboard is open at the IP address ${site.host}: open it at its name`,
  )
}

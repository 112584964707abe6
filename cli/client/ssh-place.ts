import { isIP } from 'node:net'
import { wrong } from '../fault.ts'

const DEFAULT_API = '127.0.0.1:7878'
/** What ssh could take for an option or a token of its configuration is not a host. */
const NAME = /^[A-Za-z0-9._][A-Za-z0-9._-]*$/
const ADDRESS_AND_PORT = /^(?:[\d.]+|\[[\da-fA-F:]+\]|localhost):\d{1,5}$/

/** A host that is reached by the system's ssh, with the user's own configuration. */
export interface SshPlace {
  /** `user@host`, or the host alone. */
  destination: string
  port: string | null
  /** Where the API listens, as seen from that host. */
  api: string
}

/** Reads `ssh://[user@]host[:port][?api=<address:port>]`. Throws Fault for anything else; then no ssh is started. */
export function readPlace(text: string): SshPlace {
  const url = URL.parse(text)
  const user = url?.username ?? ''
  const host = url?.hostname.replace(/^\[|\]$/g, '') ?? ''
  const isHost = NAME.test(host) || isIP(host) !== 0
  const isWhole = url && !url.password && !url.hash && (url.pathname === '' || url.pathname === '/')
  const api = url?.searchParams.get('api') ?? DEFAULT_API
  const isKnown = url ? [...url.searchParams.keys()].every((name) => name === 'api') : false
  if (!isWhole || !isHost || (user !== '' && !NAME.test(user)) || !isKnown || !ADDRESS_AND_PORT.test(api))
    throw wrong('an ssh server is written ssh://[user@]host[:port][?api=<address:port>]')
  return { destination: user === '' ? host : `${user}@${host}`, port: url.port || null, api }
}

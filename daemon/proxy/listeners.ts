import { useContext } from '#server/context.ts'
import { AppError } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import type { ListenAddress } from '#server/options/values.ts'
import type { BoundListener, ListenerSpec } from '#proxy/protocol.ts'
import type { ProxyListenError } from './client.ts'

const log = logger('data plane')

/** Error codes after which a default address is replaced by another port. */
const UNAVAILABLE = new Set(['EADDRINUSE', 'EACCES'])

/** An address that the data plane should listen on, and the flag for it. */
export interface WantedListener {
  protocol: ListenerSpec['protocol']
  flag: string
  address: ListenAddress
  /** Used instead of a default port that is in use or forbidden. */
  fallbackPort: number
}

/** Returns the listeners of the options. */
export function wantedListeners(): WantedListener[] {
  const { httpListen, httpsListen, tls } = useContext().options
  const http = { protocol: 'http', flag: '--http-listen', address: httpListen, fallbackPort: 8080 } as const
  const https = {
    protocol: 'https',
    flag: '--https-listen',
    address: httpsListen,
    fallbackPort: 8443,
  } as const
  return tls === 'off' ? [http] : [http, https]
}

/** Returns the listeners in the table's format. */
export function listenerSpecs(listeners: readonly WantedListener[]): ListenerSpec[] {
  return listeners.map(({ address, protocol }) => ({ address: formatAddress(address), protocol }))
}

/**
 * Returns the listeners to try next after one of them failed. Throws `io_error` if its address was set explicitly, or if
 * the fallback port failed too.
 */
export function otherListeners(
  listeners: readonly WantedListener[],
  error: ProxyListenError,
): WantedListener[] {
  const failed = listeners.find(({ address }) => formatAddress(address) === error.address)
  if (!failed) throw new AppError('io_error', error.message, { cause: error })
  const { flag, address, fallbackPort } = failed
  const text = formatAddress(address)
  if (!UNAVAILABLE.has(error.code))
    throw new AppError('io_error', `${flag} ${text}: ${error.message}`, { cause: error })
  if (address.named || address.port === fallbackPort) {
    const why =
      error.code === 'EACCES'
        ? 'this user may not listen there: run as root'
        : 'another program listens there: stop it'
    throw new AppError('io_error', `${flag} ${text}: ${why}, or set another address`, {
      cause: error,
    })
  }
  log.warn(
    `cannot listen on ${text} (${error.code}); using port ${fallbackPort}. Free it, or set another with ${flag}.`,
  )
  return listeners.map((listener) =>
    listener === failed ? { ...listener, address: { ...address, port: fallbackPort } } : listener,
  )
}

/** Returns the port that the listener of a protocol is bound to; null if there is none. */
export function boundPort(
  listeners: readonly WantedListener[],
  bound: readonly BoundListener[],
  protocol: ListenerSpec['protocol'],
): number | null {
  const wanted = listenerSpecs(listeners).find((listener) => listener.protocol === protocol)
  return bound.find(({ address }) => address === wanted?.address)?.port ?? null
}

/** Returns `host:port` as the options and the table write it. */
export function formatAddress({ host, port }: Pick<ListenAddress, 'host' | 'port'>): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

import { useContext } from '#server/context.ts'
import { AppError } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import type { ListenAddress } from '#server/options/values.ts'
import type { BoundListener, ListenerSpec } from '#proxy/protocol.ts'
import type { ProxyListenError } from './client.ts'

const log = logger('data plane')

/** Codes with which a default address gives way to another port. */
const UNAVAILABLE = new Set(['EADDRINUSE', 'EACCES'])

/** An address that the data plane is to serve on, and the flag that named it. */
export interface WantedListener {
  protocol: ListenerSpec['protocol']
  flag: string
  address: ListenAddress
  /** Instead of a default port that is taken or forbidden. */
  fallbackPort: number
}

/** What the options ask for. */
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

/** As the table has them. */
export function listenerSpecs(listeners: readonly WantedListener[]): ListenerSpec[] {
  return listeners.map(({ address, protocol }) => ({ address: formatAddress(address), protocol }))
}

/**
 * The listeners to try next after one of them could not be had. Throws `io_error` when it was named, or when its other
 * port cannot be had either.
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
    const why = error.code === 'EACCES' ? 'this user may not listen there' : 'another program listens there'
    throw new AppError('io_error', `${flag} ${text}: ${why}; stop it or name another address`, {
      cause: error,
    })
  }
  log.warn(
    `${text} cannot be had (${error.code}); using port ${fallbackPort}. Free it, or name another with ${flag}.`,
  )
  return listeners.map((listener) =>
    listener === failed ? { ...listener, address: { ...address, port: fallbackPort } } : listener,
  )
}

/** The port that the listener of a protocol is bound to; null without one. */
export function boundPort(
  listeners: readonly WantedListener[],
  bound: readonly BoundListener[],
  protocol: ListenerSpec['protocol'],
): number | null {
  const wanted = listenerSpecs(listeners).find((listener) => listener.protocol === protocol)
  return bound.find(({ address }) => address === wanted?.address)?.port ?? null
}

/** `host:port` as the options and the table spell it. */
export function formatAddress({ host, port }: Pick<ListenAddress, 'host' | 'port'>): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

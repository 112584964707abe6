import { lookup, type LookupAddress, type LookupOptions } from 'node:dns'
import { connect, type LookupFunction, type Socket } from 'node:net'
import { useContext } from '../context.ts'
import { addressFault, bareHost, hostFault, type Reach } from './addresses.ts'

/** Thrown for an address that users may not make the server connect to. The message says which one and why. */
export class ForbiddenPlace extends Error {
  override readonly name = 'ForbiddenPlace'
}

/**
 * Where messages, log lines and backups may be sent, and certificates be had: private networks and this host too, since what
 * receives them is often there.
 */
export const DESTINATIONS: Reach = { denyPrivate: false, ownPort: null }

/** Where git addresses may lead, as the options say. */
export function ownReach(): Reach {
  const { options } = useContext()
  return { denyPrivate: options.denyPrivateGit, ownPort: options.listen.port }
}

/**
 * Connects to a host. Its name is resolved once, each of its addresses is judged, and only judged addresses are connected
 * to, so that a second DNS answer cannot lead elsewhere. Throws ForbiddenPlace for a denied address.
 */
export function connectJudged(host: string, port: number, reach: Reach): Socket {
  return connect(judgedPlace(host, port, reach))
}

/** Where and how a socket connects to a host in that way. */
export function judgedPlace(
  host: string,
  port: number,
  reach: Reach,
): { host: string; port: number; lookup: LookupFunction } {
  assertPlace(host, port, reach)
  return { host, port, lookup: judgedLookup(port, reach) }
}

/** A permitted address that a host has now. Throws ForbiddenPlace, or the error of the look-up. */
export async function resolveJudged(host: string, port: number, reach: Reach): Promise<string> {
  assertPlace(host, port, reach)
  return await new Promise((resolve, reject) =>
    judgedLookup(port, reach)(host, {}, (error, address) =>
      error ? reject(error) : resolve(address as string),
    ),
  )
}

/** Refuses a denied address. A name is judged when it is resolved. Throws ForbiddenPlace. */
function assertPlace(host: string, port: number, reach: Reach): void {
  const fault = placeFault(host, port, reach)
  if (fault !== null) throw new ForbiddenPlace(fault)
}

/** What is wrong with the host of a URL; null when nothing is. */
export function placeFault(host: string, port: number, reach: Reach): string | null {
  const fault = hostFault(bareHost(host), port, reach)
  return fault === null ? null : `${host} ${fault}`
}

/**
 * A look-up for sockets to one port that returns only judged addresses. When one address of a name is denied, the name is.
 */
function judgedLookup(port: number, reach: Reach): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true } as LookupOptions & { all: true }, (error, addresses) => {
      if (error) return callback(error, [])
      const fault = firstFault(addresses, port, reach)
      if (fault !== null) return callback(new ForbiddenPlace(`${host} ${fault}`), [])
      if (options.all) callback(null, addresses)
      else callback(null, addresses[0]!.address, addresses[0]!.family)
    })
  }
}

function firstFault(addresses: LookupAddress[], port: number, reach: Reach): string | null {
  for (const { address } of addresses) {
    const fault = addressFault(address, port, reach)
    if (fault !== null) return `resolves to ${address}, which ${fault}`
  }
  return null
}

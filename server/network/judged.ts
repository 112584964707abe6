import { lookup, type LookupAddress, type LookupOptions } from 'node:dns'
import { connect, type LookupFunction, type Socket } from 'node:net'
import { useContext } from '../context.ts'
import { addressFault, bareHost, hostFault, type Reach } from './addresses.ts'

/** A place that users may not lead the server to; the message says which and why. */
export class ForbiddenPlace extends Error {
  override readonly name = 'ForbiddenPlace'
}

/** How far messages and log lines may be sent: to private networks and this host too. */
export const DESTINATIONS: Reach = { denyPrivate: false, ownPort: null }

/** How far addresses of git may lead, as the options say. */
export function ownReach(): Reach {
  const { options } = useContext()
  return { denyPrivate: options.denyPrivateGit, ownPort: options.listen.port }
}

/**
 * Connects to a host: its name is resolved once, each of its addresses judged, and only those that were judged are
 * connected to, so that no second answer of the DNS leads elsewhere. Throws ForbiddenPlace for an address.
 */
export function connectJudged(host: string, port: number, reach: Reach): Socket {
  assertPlace(host, port, reach)
  return connect({ host, port, lookup: judgedLookup(port, reach) })
}

/** An address that a host has now and that may be reached. Throws ForbiddenPlace, or why its name is not resolved. */
export async function resolveJudged(host: string, port: number, reach: Reach): Promise<string> {
  assertPlace(host, port, reach)
  return await new Promise((resolve, reject) =>
    judgedLookup(port, reach)(host, {}, (error, address) =>
      error ? reject(error) : resolve(address as string),
    ),
  )
}

/** Refuses an address that may not be reached; a name is judged when it is resolved. Throws ForbiddenPlace. */
export function assertPlace(host: string, port: number, reach: Reach): void {
  const fault = placeFault(host, port, reach)
  if (fault !== null) throw new ForbiddenPlace(fault)
}

/** What is wrong with a host as it stands in a URL; null when nothing is. */
export function placeFault(host: string, port: number, reach: Reach): string | null {
  const fault = hostFault(bareHost(host), port, reach)
  return fault === null ? null : `${host} ${fault}`
}

/** A look-up for sockets to one port that hands on judged addresses alone; one that is forbidden forbids the name. */
export function judgedLookup(port: number, reach: Reach): LookupFunction {
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
    if (fault !== null) return `leads to ${address}, which ${fault}`
  }
  return null
}

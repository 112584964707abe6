import { lookup, type LookupAddress } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/**
 * Where nothing that a user names is ever connected to: networks of one link, at which hosts of clouds hand out
 * credentials (RFC 3927, RFC 4291 section 2.5.6), and the two such addresses that lie elsewhere (AWS, Alibaba Cloud).
 */
const CLOSED = new BlockList()
CLOSED.addSubnet('169.254.0.0', 16, 'ipv4')
CLOSED.addSubnet('fe80::', 10, 'ipv6')
CLOSED.addAddress('fd00:ec2::254', 'ipv6')
CLOSED.addAddress('100.100.100.200', 'ipv4')
/** The same through a translator (RFC 6052 section 2.1). */
CLOSED.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6')
CLOSED.addAddress('64:ff9b::6464:64c8', 'ipv6')
/** Names of such addresses. */
const CLOSED_NAMES = ['metadata.google.internal', 'metadata.goog', 'instance-data']

/** Whether an address or a name is one that must not be connected to. Of another name only its address tells. */
export function isClosedHost(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  const family = isIP(bare)
  if (family === 0) return CLOSED_NAMES.includes(bare.replace(/\.$/, ''))
  // An IPv4 address within an IPv6 one is judged as what it is.
  return CLOSED.check(bare.split('%')[0]!, family === 4 ? 'ipv4' : 'ipv6')
}

/** What is wrong with a host; null when nothing is. */
export function hostFault(host: string): string | null {
  return isClosedHost(host)
    ? `${host} is of a link-local or metadata network, to which nothing is sent`
    : null
}

/**
 * Resolves a name for the one connection that is made with its answer: what was judged is what is connected to. To be
 * given to `net.connect` and its like.
 */
export const guardedLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
    if (error) return callback(error, [])
    const closed = [hostname, ...found.map(({ address }) => address)].find(isClosedHost)
    if (closed !== undefined)
      return callback(new Error(`${hostname} leads to ${closed}: ${hostFault(closed)}`), [])
    if (options.all) callback(null, found)
    else callback(null, found[0]!.address, found[0]!.family)
  })
}

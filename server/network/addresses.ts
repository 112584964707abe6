import { BlockList, isIP, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'

/** Where addresses from users may lead. */
export interface Reach {
  /** Denies private and loopback networks. */
  denyPrivate: boolean
  /** The address at which this server's own API listens, which is always denied; null while it does not listen. */
  ownPort: number | null
}

/**
 * Where clouds serve credentials: the IPv4 link-local network, and addresses elsewhere (Azure, Alibaba, Oracle; over IPv6
 * EC2 and its pods, Oracle, Scaleway and Google).
 */
export const METADATA_NETWORKS: readonly string[] = [
  '169.254.0.0/16',
  '168.63.129.16/32',
  '100.100.100.200/32',
  '192.0.0.192/32',
  'fd00:ec2::/32',
  'fd00:c1::a9fe:a9fe/128',
  'fd00:42::42/128',
  'fd20:ce::254/128',
]

/**
 * Always denied: the metadata addresses, the IPv6 link-local network, and addresses that name no single host: unspecified,
 * multicast and reserved ones (RFC 6890).
 */
const ALWAYS_DENIED = blockList([
  ...METADATA_NETWORKS,
  'fe80::/10',
  '0.0.0.0/8',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/128',
  'ff00::/8',
])

/** The host names of clouds' metadata services. */
const METADATA_NAMES = ['metadata.google.internal', 'metadata.goog', 'instance-data']

const LOOPBACK = blockList(['127.0.0.0/8', '::1/128'])

/** Networks inside one host or one site (RFC 1918, RFC 6598, RFC 2544, RFC 4193, RFC 3879). */
const PRIVATE = blockList([
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '192.0.0.0/24',
  '198.18.0.0/15',
  '::1/128',
  'fc00::/7',
  'fec0::/10',
])

/** Why addresses from users may not lead to this address and port, worded to follow the name; null when they may. */
export function addressFault(address: string, port: number, reach: Reach): string | null {
  const plain = carried(address.split('%', 1)[0]!)
  const family = isIPv6(plain) ? 'ipv6' : 'ipv4'
  if (ALWAYS_DENIED.check(plain, family))
    return 'is a link-local, metadata or reserved address, which is never connected to'
  if (port === reach.ownPort && isOwn(plain)) return "is this server's own API, which is never connected to"
  if (reach.denyPrivate && PRIVATE.check(plain, family))
    return 'is a private address, which this server may not reach (--deny-private-git)'
  return null
}

/** Like `addressFault`, for a host that may be a name. Other names are judged once they are resolved. */
export function hostFault(host: string, port: number, reach: Reach): string | null {
  if (isIP(host) !== 0) return addressFault(host, port, reach)
  const isMetadata = METADATA_NAMES.includes(host.toLowerCase().replace(/\.$/, ''))
  return isMetadata ? 'is a metadata service, which is never connected to' : null
}

/** Whether an address may be a public one. */
export function isPublicAddress(address: string): boolean {
  const plain = carried(address)
  const family = isIPv6(plain) ? 'ipv6' : 'ipv4'
  return !ALWAYS_DENIED.check(plain, family) && !PRIVATE.check(plain, family)
}

/** The prefixes of IPv6 addresses that carry an IPv4 address: the mapped, the translated and the compatible form. */
const CARRIERS = ['0:0:0:0:0:ffff', '0:0:0:0:ffff:0', '0:0:0:0:0:0']

/**
 * The IPv4 address that an IPv6 address carries (mapped, compatible, translated, NAT64, 6to4: RFC 4291, RFC 2765, RFC 6052,
 * RFC 3056). Any other address is returned as it is, including the unspecified and the loopback one.
 */
function carried(address: string): string {
  if (!isIPv6(address)) return address
  const groups = groupsOf(address)
  // ::, ::1
  if (groups.slice(0, 7).every((group) => group === 0) && groups[7]! <= 1) return address
  const [before, last] = [groups.slice(0, 6), groups.slice(6)]
  const isCarrier = CARRIERS.includes(before.map((group) => group.toString(16)).join(':'))
  const isTranslated = groups[0] === 0x64 && groups[1] === 0xff9b
  const pair = isCarrier || isTranslated ? last : groups[0] === 0x2002 ? groups.slice(1, 3) : null
  return pair === null ? address : pair.flatMap((group) => [group >> 8, group & 0xff]).join('.')
}

/** The eight numbers of an IPv6 address. The URL parser writes the last two in hex as well. */
function groupsOf(address: string): number[] {
  const normal = new URL(`http://[${address}]/`).hostname.slice(1, -1)
  const [start = [], end = []] = normal
    .split('::')
    .map((part) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))))
  return [...start, ...Array<number>(8 - start.length - end.length).fill(0), ...end]
}

/** Whether only programs on this host have an address, or reach it. False for what is not an IP address. */
export function isLoopback(address: string): boolean {
  const family = isIP(address)
  return family !== 0 && LOOPBACK.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

function isOwn(address: string): boolean {
  if (address.startsWith('127.') || address === '::1') return true
  return Object.values(networkInterfaces()).some((entries) =>
    entries?.some((entry) => entry.address === address),
  )
}

function blockList(networks: string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address, prefix] = network.split('/') as [string, string]
    list.addSubnet(address, Number(prefix), isIPv6(address) ? 'ipv6' : 'ipv4')
  }
  return list
}

/** The host of a URL in the form that sockets and DNS take: an IPv6 address has no brackets (RFC 3986, section 3.2.2). */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

/** The port of an http or https URL, that of its scheme when it names none. */
export function portOf({ port, protocol }: { port: string; protocol: string }): number {
  return Number(port) || (protocol === 'https:' ? 443 : 80)
}

import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { useContext } from '../context.ts'
import { isLocalName } from '../domains/names.ts'
import { PRODUCTION } from './store.ts'
import type { DnsRecord, EnvironmentDns } from './schema.ts'

/** IPv4 addresses that are nobody's on the internet (RFC 6890); of IPv6 only 2000::/3 is given out. */
const NOT_PUBLIC = new BlockList()
for (const network of [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
]) {
  const [address, prefix] = network.split('/') as [string, string]
  NOT_PUBLIC.addSubnet(address, Number(prefix))
}

/** What DNS needs for an environment's hosts under each of the server's domains that is not local. */
export function dnsOf(environment: { name: string }): EnvironmentDns[] {
  const { baseDomain } = useContext().options
  if (isLocalName(baseDomain)) return []
  const place = environment.name === PRODUCTION ? baseDomain : `${environment.name}.${baseDomain}`
  const wildcard = `*.${place}`
  return [
    { domain: baseDomain, wildcard, records: publicAddresses().map((value) => record(wildcard, value)) },
  ]
}

/** `--public-ip`, else the host's own addresses that the internet reaches, one of each family at most. */
function publicAddresses(): string[] {
  const { publicIps } = useContext().options
  if (publicIps.length > 0) return publicIps
  const own = Object.values(networkInterfaces()).flatMap((addresses) =>
    (addresses ?? []).map(({ address }) => address),
  )
  const v4 = own.find((address) => isIP(address) === 4 && !NOT_PUBLIC.check(address))
  const v6 = own.find((address) => isIP(address) === 6 && /^[23]/.test(address))
  return [v4, v6].filter((address) => address !== undefined)
}

/** Visitors without IPv6 are many, so IPv4's record is needed; the other helps. */
function record(name: string, value: string): DnsRecord {
  const isV4 = isIP(value) === 4
  return { name, type: isV4 ? 'A' : 'AAAA', value, required: isV4 }
}

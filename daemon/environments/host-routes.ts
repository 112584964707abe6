import { readFile } from 'node:fs/promises'

/** The columns of /proc/net/route that say where a route goes: interface, destination, ..., mask (proc(5)). */
const DESTINATION = 1
const MASK = 7

/**
 * The IPv4 subnets that the host has routes to, including bridges without a container, which are missing from the list of
 * interfaces. None where the kernel has no such file.
 */
export async function hostRoutes(): Promise<string[]> {
  return subnetsOf(await readFile('/proc/net/route', 'utf8').catch(() => ''))
}

/** The subnets of a /proc/net/route, in CIDR form, without the default route. */
export function subnetsOf(table: string): string[] {
  return table
    .split('\n')
    .slice(1)
    .flatMap((row) => {
      const columns = row.trim().split(/\s+/)
      const destination = addressOf(columns[DESTINATION])
      const mask = columns[MASK]
      if (destination === null || mask === undefined) return []
      const prefix = [...Number.parseInt(mask, 16).toString(2)].filter((bit) => bit === '1').length
      return prefix === 0 ? [] : [`${destination}/${prefix}`]
    })
}

/** The kernel writes an address as a number in the host's byte order: 10.208.0.0 is 0000D00A. */
function addressOf(hex: string | undefined): string | null {
  if (hex === undefined || !/^[0-9A-F]{8}$/i.test(hex)) return null
  return hex
    .match(/../g)!
    .reverse()
    .map((octet) => Number.parseInt(octet, 16))
    .join('.')
}

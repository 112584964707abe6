import type { NameZone } from '../protocol.ts'

/** More would not fit into 512 bytes, and libraries try only a few (RFC 1035 section 2.3.4). */
const MAX_ANSWERS = 16

interface Zone {
  first: number
  last: number
  gateway: string
  names: Map<string, string[]>
}

/** The zones of all networks. The address of the client decides which one applies. */
export class Zones {
  #zones: Zone[] = []
  #gateways = new Set<string>()

  /** Replaces all zones. */
  apply(zones: Record<string, NameZone>): void {
    this.#zones = Object.values(zones).map(({ subnet, gateway, names }) => {
      const [address, prefix = '32'] = subnet.split('/') as [string, string?]
      const size = 2 ** (32 - Number(prefix))
      const first = Math.floor(numberOf(address) / size) * size
      return { first, last: first + size - 1, gateway, names: new Map(Object.entries(names)) }
    })
    this.#gateways = new Set(this.#zones.map(({ gateway }) => gateway))
  }

  /** The addresses at which the resolver listens. */
  get gateways(): ReadonlySet<string> {
    return this.#gateways
  }

  /** Returns the names for a client at this address; null if it belongs to no zone. */
  namesFor(source: string): ReadonlyMap<string, string[]> | null {
    const address = numberOf(source)
    return this.#zones.find(({ first, last }) => first <= address && address <= last)?.names ?? null
  }
}

/** Returns some of the addresses in random order, since clients take the first. */
export function shuffled(addresses: readonly string[]): string[] {
  const rest = [...addresses]
  const chosen: string[] = []
  while (rest.length > 0 && chosen.length < MAX_ANSWERS) {
    const [address] = rest.splice(Math.floor(Math.random() * rest.length), 1)
    chosen.push(address!)
  }
  return chosen
}

/** Returns an IPv4 address as a number; NaN for anything else. */
function numberOf(address: string): number {
  return address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0)
}

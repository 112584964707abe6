import type { NameZone } from '../protocol.ts'

/** More would not fit into 512 bytes, and libraries try few of them (RFC 1035 section 2.3.4). */
const MAX_ANSWERS = 16

interface Zone {
  first: number
  last: number
  gateway: string
  names: Map<string, string[]>
}

/** Who asks decides what a name means. */
export class Zones {
  #zones: Zone[] = []
  #gateways = new Set<string>()

  /** Takes the place of all zones at once. */
  apply(zones: Record<string, NameZone>): void {
    this.#zones = Object.values(zones).map(({ subnet, gateway, names }) => {
      const [address, prefix = '32'] = subnet.split('/') as [string, string?]
      const size = 2 ** (32 - Number(prefix))
      const first = Math.floor(numberOf(address) / size) * size
      return { first, last: first + size - 1, gateway, names: new Map(Object.entries(names)) }
    })
    this.#gateways = new Set(this.#zones.map(({ gateway }) => gateway))
  }

  /** Where the resolver listens. */
  get gateways(): ReadonlySet<string> {
    return this.#gateways
  }

  /** The names that mean something to who asks from this address; null for a stranger. */
  namesFor(source: string): ReadonlyMap<string, string[]> | null {
    const address = numberOf(source)
    return this.#zones.find(({ first, last }) => first <= address && address <= last)?.names ?? null
  }
}

/** Some of the addresses in random order, as clients take the first. */
export function shuffled(addresses: readonly string[]): string[] {
  const rest = [...addresses]
  const chosen: string[] = []
  while (rest.length > 0 && chosen.length < MAX_ANSWERS) {
    const [address] = rest.splice(Math.floor(Math.random() * rest.length), 1)
    chosen.push(address!)
  }
  return chosen
}

/** An IPv4 address as a number; not a number for anything else. */
function numberOf(address: string): number {
  return address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0)
}

import { isIP } from 'node:net'

/** An IPv4 address inside IPv6 (RFC 4291 2.5.5.2) begins with these digits. */
const MAPPED = '00000000000000000000ffff'

interface Range {
  from: string
  to: string
}

/** A set of networks, of which none or thousands cost about the same to look up. */
export class AddressSet {
  /** Sorted and apart from each other. */
  readonly #ranges: Range[] = []

  /** Takes valid CIDRs and addresses. An IPv4 address inside IPv6 means the IPv4 address. */
  constructor(networks: readonly string[]) {
    const ranges = networks.map(rangeOf).toSorted((one, other) => (one.from < other.from ? -1 : 1))
    for (const range of ranges) {
      const last = this.#ranges.at(-1)
      if (!last || last.to < range.from) this.#ranges.push({ ...range })
      else if (last.to < range.to) last.to = range.to
    }
  }

  /** Whether it has the address; false for a text that is not one. */
  has(address: string): boolean {
    const key = keyOf(address)
    if (key === null) return false
    let low = 0
    let high = this.#ranges.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#ranges[middle]!.to < key) low = middle + 1
      else high = middle
    }
    return low < this.#ranges.length && this.#ranges[low]!.from <= key
  }
}

/** Returns an IPv4 address that is written inside IPv6 as itself, and anything else unchanged. */
export function plainAddress(address: string): string {
  const key = address.includes(':') ? keyOf(address) : null
  if (!key?.startsWith('4')) return address
  return [1, 3, 5, 7].map((at) => Number.parseInt(key.slice(at, at + 2), 16)).join('.')
}

/** Returns text in the order of the addresses: the family, then hexadecimal digits. Null if it is not an address. */
function keyOf(address: string): string | null {
  const family = isIP(address)
  if (family === 4) return `4${digitsOf4(address)}`
  if (family !== 6) return null
  // A zone (RFC 4007 11) names an interface of ours.
  const digits = digitsOf6(address.split('%', 1)[0]!)
  return digits.startsWith(MAPPED) ? `4${digits.slice(MAPPED.length)}` : `6${digits}`
}

function digitsOf4(address: string): string {
  const value = address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0)
  return value.toString(16).padStart(8, '0')
}

function digitsOf6(address: string): string {
  const [start = [], end] = address.split('::').map(groupsOf)
  const missing = end === undefined ? 0 : 8 - start.length - end.length
  return [...start, ...Array<string>(missing).fill('0000'), ...(end ?? [])].join('')
}

/** Returns the groups of a part of an address; the last 32 bits may be written as IPv4. */
function groupsOf(part: string): string[] {
  if (part === '') return []
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [group.toLowerCase().padStart(4, '0')]
    const digits = digitsOf4(group)
    return [digits.slice(0, 4), digits.slice(4)]
  })
}

function rangeOf(network: string): Range {
  const [address, prefix] = network.split('/') as [string, string | undefined]
  const key = keyOf(address)!
  const digits = key.slice(1)
  const bits = digits.length * 4
  const given = prefix === undefined ? bits : Number(prefix)
  // The prefix of an IPv4 network inside IPv6 counts from the beginning of the IPv6 address.
  const inside = prefix !== undefined && key.startsWith('4') && address.includes(':') ? given - 96 : given
  const kept = BigInt(prefix === undefined ? bits : Math.max(inside, 0))
  const hosts = (1n << (BigInt(bits) - kept)) - 1n
  const first = BigInt(`0x${digits}`) & ~hosts
  const text = (value: bigint) => key[0] + value.toString(16).padStart(digits.length, '0')
  return { from: text(first), to: text(first | hosts) }
}

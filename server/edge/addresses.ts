import { isIP } from 'node:net'

/** The longest prefix by version of IP. */
const LONGEST_PREFIX: Record<number, number> = { 4: 32, 6: 128 }
/** Bits before the IPv4 address in an IPv4-mapped one (RFC 4291 section 2.5.5.2). */
const MAPPED_BITS = 96

/**
 * Why a text is neither an IP address nor a CIDR; null when it is one. Bits after the prefix are allowed and count as zero, so
 * that people can write the address of their router with the prefix that it shows.
 */
export function sourceFault(text: string): string | null {
  const [address = '', prefix, ...rest] = text.split('/')
  const longest = address.includes('%') ? undefined : LONGEST_PREFIX[isIP(address)]
  if (longest === undefined || rest.length > 0)
    return `${text} is not an IP address or a CIDR, such as 203.0.113.7 or 2001:db8::/32`
  if (prefix === undefined || (/^(?:0|[1-9]\d{0,2})$/.test(prefix) && Number(prefix) <= longest)) return null
  return `the prefix of ${text} must be a number from 0 to ${longest}`
}

/** An address or CIDR as requests are compared with it: what is IPv4-mapped is the IPv4 address or network. */
export function plainSource(text: string): string {
  const [address = '', prefix] = text.split('/')
  const bits = prefix === undefined ? LONGEST_PREFIX[6]! : Number(prefix)
  if (isIP(address) !== 6 || bits < MAPPED_BITS) return text
  // The URL parser writes an address in one way only.
  const [, high, low] =
    /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(new URL(`http://[${address}]`).hostname) ?? []
  if (high === undefined || low === undefined) return text
  const octets = [high, low].flatMap((group) => {
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 0xff]
  })
  return prefix === undefined ? octets.join('.') : `${octets.join('.')}/${bits - MAPPED_BITS}`
}

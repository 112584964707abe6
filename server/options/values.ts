import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { createSecureContext } from 'node:tls'
import { MAX_UPSTREAM_TIMEOUT_MS } from '#proxy/limits.ts'
import { normalName } from '../domains/names.ts'
import { AppError, messageOf } from '../errors.ts'
import { imageFault } from '../images/reference.ts'
import { bad, FLAGS, SWITCH_VALUES, type FlagName } from './flags.ts'

/** An address to listen on. An IPv6 host has no brackets. */
export interface ListenAddress {
  host: string
  port: number
  /** False for a default, which may be replaced by another port; a given address may not. */
  named: boolean
}

/** The image of new datastores of a kind. The tag is the version of datastores that name none. */
export interface DatastoreImage {
  repository: string
  tag: string
}

/** The highest TCP port. */
export const MAX_PORT = 65_535

/** Parses `address:port`, with an IPv6 host in brackets. */
export function readListen(
  name: FlagName,
  value: string | null,
  fallback: Omit<ListenAddress, 'named'>,
): ListenAddress {
  if (value === null) return { ...fallback, named: false }
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(value)
  const port = Number(match?.[3])
  if (!match || port > MAX_PORT) throw bad(name, 'address:port, such as 127.0.0.1:7878 or [::]:80', value)
  return { host: (match[1] ?? match[2])!, port, named: true }
}

/** A domain name, normalized. */
export function readDomain(name: FlagName, value: string): string {
  try {
    return normalName(value, `--${name} (${FLAGS[name].variable})`)
  } catch (cause) {
    throw new AppError('invalid_request', `${messageOf(cause)}, not "${value}"`, { cause })
  }
}

const MAX_HOST_CHARACTERS = 253

/** A host name in any DNS, including one with a single label. */
export function readHost(name: FlagName, value: string): string {
  const host = value.toLowerCase().replace(/\.$/, '')
  const isName = host.split('.').every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label))
  if (!isName || host.length > MAX_HOST_CHARACTERS) throw bad(name, 'the name of a host', value)
  return host
}

/** Splits a comma-separated list. */
export function readList(value: string | null): string[] {
  return (value ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}

/** IP addresses, at most one of each family. */
export function readIps(name: FlagName, value: string | null): string[] {
  const addresses = readList(value)
  const families = addresses.map((address) => isIP(address))
  if (families.includes(0) || new Set(families).size < families.length)
    throw bad(name, 'an IP address, or one of each family separated by a comma', value!)
  return addresses
}

/** An IPv4 address, or null. */
export function readAddress(name: FlagName, value: string | null): string | null {
  if (value !== null && isIP(value) !== 4) throw bad(name, 'an IPv4 address', value)
  return value
}

/** Resolver addresses in node's notation (RFC 5952 section 6 for IPv6 with a port). */
export function readResolvers(name: FlagName, value: string | null): string[] {
  return readList(value).map((entry) => {
    const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(entry) ?? []
    const isKnown =
      isIP(entry) !== 0 || (isIP(bracketed ?? plain ?? '') !== 0 && Number(port ?? 53) <= MAX_PORT)
    if (!isKnown) throw bad(name, 'addresses such as 192.0.2.53 or [2001:db8::53]:5353', entry)
    return entry
  })
}

/** An absolute https URL, or null. */
export function readHttpsUrl(name: FlagName, value: string | null): string | null {
  if (value !== null && URL.parse(value)?.protocol !== 'https:') throw bad(name, 'an https URL', value)
  return value
}

const MAX_SERVER_NAME_CHARACTERS = 64

/** A name for people, on one line without control characters, or null. */
export function readServerName(name: FlagName, value: string | null): string | null {
  if (value === null) return null
  const isName = /^\P{C}+$/u.test(value) && !/[\u2028\u2029]/.test(value) && value.trim() === value
  if (!isName || value.length > MAX_SERVER_NAME_CHARACTERS)
    throw bad(name, `a name of at most ${MAX_SERVER_NAME_CHARACTERS} characters on one line`, value)
  return value
}

/** An e-mail address, or null. */
export function readEmail(name: FlagName, value: string | null): string | null {
  if (value !== null && !/^[^\s@,]+@[^\s@,]+$/.test(value)) throw bad(name, 'an e-mail address', value)
  return value
}

/** Reads a file of PEM certificates. An invalid one is reported at start, not at the first order. */
export function readCertificates(name: FlagName, file: string | null): string | null {
  if (file === null) return null
  try {
    const pem = readFileSync(file, 'utf8')
    createSecureContext({ ca: pem })
    if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error('it contains no certificate')
    return pem
  } catch (cause) {
    throw bad(name, `a readable file of PEM certificates (${messageOf(cause)})`, file)
  }
}

/** Comma-separated addresses with a prefix length (RFC 4632, RFC 4291 section 2.3). */
export function readCidrs(name: FlagName, value: string | null): string[] {
  const cidrs = readList(value)
  for (const cidr of cidrs) {
    const [address = '', prefix = ''] = cidr.split('/')
    const longest = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
    if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > longest)
      throw bad(name, 'CIDRs such as 10.0.0.0/8', cidr)
  }
  return cidrs
}

/** An image reference with a tag, which becomes a datastore's version. */
export function readImage(name: FlagName, value: string): DatastoreImage {
  const colon = value.lastIndexOf(':')
  const tag = value.slice(colon + 1)
  if (imageFault(value) !== null || value.includes('@') || colon === -1 || tag.includes('/'))
    throw bad(name, 'an image with a tag, such as postgres:18', value)
  return { repository: value.slice(0, colon), tag }
}

/** The name of an image, with or without a tag or digest. */
export function readImageName(name: FlagName, value: string): string {
  if (imageFault(value) !== null) throw bad(name, 'the name of an image, such as registry:3', value)
  return value
}

/** The data plane's maximum, which is also longer than anyone waits for a build. */
const MAX_DURATION_MS = MAX_UPSTREAM_TIMEOUT_MS

const UNIT_MS: Record<string, number> = { '': 1_000, ms: 1, s: 1_000, m: 60_000, min: 60_000, h: 3_600_000 }

/** A duration in milliseconds. */
export function readDuration(name: FlagName, value: string | null, fallbackMs: number): number {
  if (value === null) return fallbackMs
  const match = /^(\d+)\s*(ms|s|m|min|h)?$/.exec(value)
  const milliseconds = Number(match?.[1]) * UNIT_MS[match?.[2] ?? '']!
  if (!match || milliseconds === 0 || milliseconds > MAX_DURATION_MS) {
    throw bad(name, 'a duration such as 90s, 30m or 1h, at most a day', value)
  }
  return milliseconds
}

const RETENTION_UNIT_MS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 }
/** Ten years. */
const MAX_RETENTION_MS = 3_650 * 86_400_000

/** How long something is kept, in milliseconds. */
export function readRetention(name: FlagName, value: string): number {
  const [, count, unit = ''] = /^(\d{1,7})([mhd])$/.exec(value) ?? []
  const milliseconds = Number(count) * (RETENTION_UNIT_MS[unit] ?? NaN)
  if (!(milliseconds > 0 && milliseconds <= MAX_RETENTION_MS))
    throw bad(name, 'a time such as 12h, 7d or 30d, at most ten years', value)
  return milliseconds
}

/** On or off; off when not given. */
export function readSwitch(name: FlagName, value: string | null): boolean {
  if (value === null) return false
  const meant = Object.hasOwn(SWITCH_VALUES, value) ? SWITCH_VALUES[value] : undefined
  if (meant === undefined) throw bad(name, 'on or off', value)
  return meant
}

/** One of a few choices. */
export function readChoice<Choice extends string>(
  name: FlagName,
  value: string | null,
  choices: readonly Choice[],
  fallback: Choice,
): Choice {
  if (value === null) return fallback
  if (!(choices as readonly string[]).includes(value)) throw bad(name, choices.join(', '), value)
  return value as Choice
}

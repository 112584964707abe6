import { isIP } from 'node:net'
import { isAbsolute } from 'node:path'
import { MAX_CONNECTIONS_PER_ADDRESS, MAX_HSTS_SECONDS, MAX_UPSTREAM_TIMEOUT_MS } from '../limits.ts'
import {
  SECTIONS,
  type ListenerSpec,
  type Section,
  type TablePart,
  type TableSettings,
  type Target,
  type TargetState,
} from '../protocol.ts'
import { each, fail, integer, isInteger, isNetwork, list, record } from './checks.ts'
import { validateEdge } from './edge.ts'

/** Max entries of one table: far more than one host can run. */
export const MAX_ENTRIES = {
  targets: 20_000,
  hosts: 50_000,
  zones: 1_000,
  certificates: 50_000,
  acme_challenges: 10_000,
}
const MAX_UPSTREAMS = 1_000
const MAX_LISTENERS = 32
const MAX_NAMES = 10_000
const MAX_ADDRESSES = 100
const MAX_EARLIER_SITES = 100
const MAX_TRUSTED = 1_000
/** They exist only while an authority checks them. */
const MAX_TLS_CHALLENGES = 1_000

const STATES: ReadonlySet<string> = new Set<TargetState>([
  'serving',
  'suspended',
  'not_deployed',
  'starting',
  'failed',
  'scaled_to_zero',
])
/** RFC 8555 8.1 and 8.3: base64url, and the token with the account's thumbprint. */
const CHALLENGE = /^[A-Za-z0-9_-]{1,256}$/
const KEY_AUTHORIZATION = /^[A-Za-z0-9_-]{1,256}\.[A-Za-z0-9_-]{1,256}$/
/** RFC 1035 section 2.3.1. */
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const HOST =
  /^(\*\.)?([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$|^[0-9.]+$|^\[[0-9a-f:.]+\]$/

const VALIDATORS: Record<Section, (name: string, value: unknown) => void> = {
  targets: (_key, text) => validateTarget(text),
  hosts: validateRoutedHost,
  zones: (_id, zone) => validateZone(zone),
  certificates: validateCertificate,
  acme_challenges: validateChallenge,
}

/** Checks the fields that are not sections. Throws `ChannelError` `invalid_table` naming the first fault. */
export function validateSettings(value: unknown): TableSettings {
  const table = record(value, 'settings')
  // A table saved by an older program does not have this field.
  table.hsts_seconds ??= 0
  table.h2c ??= false
  table.verification_key ??= ''
  table.tls_challenges ??= {}
  integer(table.version, 'version', 0, Number.MAX_SAFE_INTEGER)
  validateListeners(table.listeners)
  for (const [index, network] of list(table.trusted_proxies, 'trusted_proxies', MAX_TRUSTED).entries()) {
    if (typeof network !== 'string' || !isNetwork(network))
      fail(`trusted_proxies[${index}]`, 'must be a CIDR')
  }
  const challenges = Object.entries(record(table.tls_challenges, 'tls_challenges'))
  if (challenges.length > MAX_TLS_CHALLENGES)
    fail('tls_challenges', `must have at most ${MAX_TLS_CHALLENGES} entries`)
  for (const [host, files] of challenges) validateCertificate(host, files)
  if (typeof table.verification_key !== 'string' || table.verification_key.length > 256)
    fail('verification_key', 'must be text')
  if (typeof table.h2c !== 'boolean') fail('h2c', 'must be boolean')
  integer(table.hsts_seconds, 'hsts_seconds', 0, MAX_HSTS_SECONDS)
  integer(table.upstream_timeout_ms, 'upstream_timeout_ms', 1, MAX_UPSTREAM_TIMEOUT_MS)
  integer(table.max_connections_per_ip, 'max_connections_per_ip', 1, MAX_CONNECTIONS_PER_ADDRESS)
  return value as TableSettings
}

/** Checks some entries, each by itself. Throws `ChannelError` `invalid_table` naming the first fault. */
export function validateEntries(value: unknown): TablePart {
  const part = record(value, 'entries')
  for (const section of SECTIONS) {
    const entries = part[section]
    if (entries === undefined) continue
    if (!Array.isArray(entries) || !entries.every(isEntry)) fail(section, 'must be an array of entries')
    each(section, entries, VALIDATORS[section])
  }
  return value as TablePart
}

function isEntry(value: unknown): value is [string, unknown] {
  return Array.isArray(value) && value.length === 2 && typeof value[0] === 'string'
}

/** Returns the host and port of a listen address. Throws `ChannelError` `invalid_table`. */
export function parseAddress(address: string): { host: string; port: number } {
  const parts = /^(?:\[([^\]]+)\]|([0-9.]+)):(\d{1,5})$/.exec(address)
  const host = parts?.[1] ?? parts?.[2] ?? ''
  const port = Number(parts?.[3])
  if (isIP(host) === 0 || !(port <= 65535)) fail(address, 'must be an IP address and a port, as in [::]:80')
  return { host, port }
}

function validateListeners(value: unknown): void {
  const addresses = new Set<string>()
  for (const [index, entry] of list(value, 'listeners', MAX_LISTENERS).entries()) {
    const path = `listeners[${index}]`
    const { address, protocol } = record(entry, path) as Partial<ListenerSpec>
    if (typeof address !== 'string') fail(`${path}.address`, 'must be text')
    parseAddress(address)
    if (addresses.has(address)) fail(`${path}.address`, 'is listed twice')
    addresses.add(address)
    if (protocol !== 'http' && protocol !== 'https') fail(`${path}.protocol`, 'must be http or https')
  }
}

function validateTarget(text: unknown): void {
  if (typeof text !== 'string') fail('', 'must be JSON')
  const target = record(parse(text), '') as Partial<Target>
  if (typeof target.id !== 'string' || target.id === '' || target.id.length > 128)
    fail('.id', 'must be a name')
  if (typeof target.state !== 'string' || !STATES.has(target.state)) fail('.state', 'must be a known state')
  const upstreams = list(target.upstreams, '.upstreams', MAX_UPSTREAMS)
  for (let index = 0; index < upstreams.length; index++) validateUpstream(upstreams[index], index)
  if (target.site !== undefined) validateSite(target.site)
  if (target.redirect !== undefined) validateRedirect(target)
  if (target.compression !== undefined && typeof target.compression !== 'boolean')
    fail('.compression', 'must be boolean')
  if (target.edge !== undefined) validateEdge(target.edge)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return fail('', 'must be JSON')
  }
}

const REDIRECT_STATUSES: readonly unknown[] = [undefined, 301, 302, 303, 307, 308]

/** Its URL is sent in a header, so only the normal form of one without credentials is allowed. */
function validateRedirect({
  redirect,
  redirect_status,
  redirect_keeps_path: keepsPath,
}: Partial<Target>): void {
  const url =
    typeof redirect === 'string' && /^https?:\/\/[!-~]+$/.test(redirect) ? URL.parse(redirect) : null
  const isNormal = url !== null && (url.href === redirect || url.href === `${redirect}/`)
  if (!isNormal || url.username + url.password !== '') fail('.redirect', 'must be a URL in its normal form')
  if (!REDIRECT_STATUSES.includes(redirect_status)) fail('.redirect_status', 'must be a status of redirects')
  if (keepsPath !== undefined && typeof keepsPath !== 'boolean')
    fail('.redirect_keeps_path', 'must be boolean')
  if (keepsPath !== false && /[?#]|\/$/.test(redirect!)) fail('.redirect', 'must end where a path can follow')
}

function validateUpstream(value: unknown, index: number): void {
  const at = (field: string) => `.upstreams[${index}]${field}`
  if (typeof value !== 'object' || value === null) return fail(at(''), 'must be an object')
  const { instance, host, port, draining } = value as Record<string, unknown>
  if (typeof instance !== 'string' || instance === '') fail(at('.instance'), 'must be a name')
  if (typeof host !== 'string' || isIP(host) === 0) fail(at('.host'), 'must be an IP address')
  if (!isInteger(port, 1, 65535)) fail(at('.port'), 'must be an integer from 1 to 65535')
  if (draining !== undefined && typeof draining !== 'boolean') fail(at('.draining'), 'must be boolean')
}

function validateSite(value: unknown): void {
  const site = record(value, '.site')
  absolutePath(site.folder, '.site.folder')
  for (const [index, entry] of list(site.earlier, '.site.earlier', MAX_EARLIER_SITES).entries()) {
    const path = `.site.earlier[${index}]`
    const earlier = record(entry, path)
    absolutePath(earlier.folder, `${path}.folder`)
    integer(earlier.until, `${path}.until`, 0, Number.MAX_SAFE_INTEGER)
  }
}

function validateHost(host: string): void {
  if (host.length > 253 || !HOST.test(host)) fail('', 'must be a lower case host name or address')
}

function validateRoutedHost(host: string, target: unknown): void {
  validateHost(host)
  if (typeof target !== 'string') fail('', 'must name a target')
}

function validateCertificate(host: string, value: unknown): void {
  validateHost(host)
  const files = record(value, '')
  absolutePath(files.certificate, '.certificate')
  absolutePath(files.key, '.key')
}

function validateChallenge(token: string, answer: unknown): void {
  if (!CHALLENGE.test(token)) fail('', 'must be a base64url token')
  if (typeof answer !== 'string' || !KEY_AUTHORIZATION.test(answer))
    fail('', 'must have a key authorization as its value')
}

function absolutePath(value: unknown, path: string): void {
  if (typeof value !== 'string' || !isAbsolute(value) || value.includes('\0'))
    fail(path, 'must be an absolute path')
}

function validateZone(value: unknown): void {
  const zone = record(value, '')
  if (typeof zone.subnet !== 'string' || zone.subnet.includes(':') || !isNetwork(zone.subnet))
    fail('.subnet', 'must be an IPv4 CIDR')
  if (typeof zone.gateway !== 'string' || isIP(zone.gateway) !== 4)
    fail('.gateway', 'must be an IPv4 address')
  const names = Object.entries(record(zone.names, '.names'))
  if (names.length > MAX_NAMES) fail('.names', `must have at most ${MAX_NAMES} entries`)
  for (const [name, value] of names) {
    if (!LABEL.test(name)) fail(`.names.${name}`, 'must be a DNS label in lower case')
    if (!Array.isArray(value) || value.length > MAX_ADDRESSES)
      fail(`.names.${name}`, `must be an array of at most ${MAX_ADDRESSES}`)
    for (const address of value as unknown[]) {
      if (typeof address !== 'string' || isIP(address) !== 4)
        fail(`.names.${name}`, 'must only have IPv4 addresses')
    }
  }
}

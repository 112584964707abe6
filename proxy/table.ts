import { isIP } from 'node:net'
import { isAbsolute } from 'node:path'
import {
  ChannelError,
  type ListenerSpec,
  type RouteTable,
  type Target,
  type TargetState,
} from './protocol.ts'

/** Bounds of one table: far above what one host can run, far below what would hold the relay up. */
const MAX_HOSTS = 50_000
const MAX_TARGETS = 20_000
const MAX_UPSTREAMS = 1_000
const MAX_LISTENERS = 32
const MAX_ZONES = 1_000
const MAX_NAMES = 10_000
const MAX_ADDRESSES = 100
const MAX_EARLIER_SITES = 100
const MAX_TRUSTED = 1_000
const MAX_CHALLENGES = 10_000
/** A hundred years. */
const MAX_HSTS_SECONDS = 100 * 365 * 24 * 60 * 60
const MAX_TIMEOUT_MS = 24 * 60 * 60 * 1000

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

/** Checks a whole table. Throws `ChannelError` `invalid_table` naming the first fault; a table is never taken in part. */
export function validateTable(value: unknown): RouteTable {
  const table = record(value, 'table')
  integer(table.version, 'version', 0, Number.MAX_SAFE_INTEGER)
  const listeners = list(table.listeners, 'listeners', MAX_LISTENERS)
  const addresses = new Set<string>()
  for (const [index, listener] of listeners.entries()) {
    const { address } = validateListener(listener, `listeners[${index}]`)
    if (addresses.has(address)) fail(`listeners[${index}].address`, 'is there twice')
    addresses.add(address)
  }
  const targets = record(table.targets, 'targets')
  const ids = Object.keys(targets)
  if (ids.length > MAX_TARGETS) fail('targets', `must be at most ${MAX_TARGETS}`)
  for (const id of ids) validateTarget(targets[id], `targets.${id}`)
  const hosts = Object.entries(record(table.hosts, 'hosts'))
  if (hosts.length > MAX_HOSTS) fail('hosts', `must be at most ${MAX_HOSTS}`)
  for (const [host, target] of hosts) {
    validateHost(host, `hosts.${host}`)
    if (typeof target !== 'string' || !Object.hasOwn(targets, target))
      fail(`hosts.${host}`, 'must name a target')
  }
  // A table kept by a data plane of before these existed has none.
  table.zones ??= {}
  table.certificates ??= {}
  table.acme_challenges ??= {}
  table.hsts_seconds ??= 0
  const zones = Object.entries(record(table.zones, 'zones'))
  if (zones.length > MAX_ZONES) fail('zones', `must be at most ${MAX_ZONES}`)
  for (const [id, zone] of zones) validateZone(zone, `zones.${id}`)
  validateTls(table)
  for (const [index, network] of list(table.trusted_proxies, 'trusted_proxies', MAX_TRUSTED).entries()) {
    if (typeof network !== 'string' || !isNetwork(network))
      fail(`trusted_proxies[${index}]`, 'must be a CIDR')
  }
  integer(table.upstream_timeout_ms, 'upstream_timeout_ms', 1, MAX_TIMEOUT_MS)
  integer(table.max_connections_per_ip, 'max_connections_per_ip', 1, 1_000_000)
  return table as unknown as RouteTable
}

/** The host and port of a listen address. Throws `ChannelError` `invalid_table`. */
export function parseAddress(address: string): { host: string; port: number } {
  const parts = /^(?:\[([^\]]+)\]|([0-9.]+)):(\d{1,5})$/.exec(address)
  const host = parts?.[1] ?? parts?.[2] ?? ''
  const port = Number(parts?.[3])
  if (isIP(host) === 0 || !(port <= 65535)) fail(address, 'must be an IP address and a port, as in [::]:80')
  return { host, port }
}

function validateListener(value: unknown, path: string): ListenerSpec {
  const listener = record(value, path) as Partial<ListenerSpec>
  if (typeof listener.address !== 'string') fail(`${path}.address`, 'must be text')
  parseAddress(listener.address)
  if (listener.protocol !== 'http' && listener.protocol !== 'https')
    fail(`${path}.protocol`, 'must be http or https')
  return listener as ListenerSpec
}

function validateTarget(value: unknown, path: string): void {
  const target = record(value, path) as Partial<Target>
  if (typeof target.id !== 'string' || target.id === '' || target.id.length > 128)
    fail(`${path}.id`, 'must be a name')
  if (typeof target.state !== 'string' || !STATES.has(target.state)) fail(`${path}.state`, 'is unknown')
  for (const [index, entry] of list(target.upstreams, `${path}.upstreams`, MAX_UPSTREAMS).entries()) {
    const upstream = record(entry, `${path}.upstreams[${index}]`)
    const at = `${path}.upstreams[${index}]`
    if (typeof upstream.instance !== 'string' || upstream.instance === '')
      fail(`${at}.instance`, 'must be a name')
    if (typeof upstream.host !== 'string' || isIP(upstream.host) === 0)
      fail(`${at}.host`, 'must be an IP address')
    integer(upstream.port, `${at}.port`, 1, 65535)
    if (upstream.draining !== undefined && typeof upstream.draining !== 'boolean')
      fail(`${at}.draining`, 'must be boolean')
  }
  if (target.site !== undefined) validateSite(target.site, `${path}.site`)
}

function validateHost(host: string, path: string): void {
  if (host.length > 253 || !HOST.test(host)) fail(path, 'must be a lower case host name or address')
}

function validateTls(table: Record<string, unknown>): void {
  const certificates = Object.entries(record(table.certificates, 'certificates'))
  if (certificates.length > MAX_HOSTS) fail('certificates', `must be at most ${MAX_HOSTS}`)
  for (const [host, value] of certificates) {
    const path = `certificates.${host}`
    validateHost(host, path)
    const files = record(value, path)
    absolutePath(files.certificate, `${path}.certificate`)
    absolutePath(files.key, `${path}.key`)
  }
  const challenges = Object.entries(record(table.acme_challenges, 'acme_challenges'))
  if (challenges.length > MAX_CHALLENGES) fail('acme_challenges', `must be at most ${MAX_CHALLENGES}`)
  for (const [token, answer] of challenges) {
    if (!CHALLENGE.test(token)) fail(`acme_challenges.${token}`, 'must be a base64url token')
    if (typeof answer !== 'string' || !KEY_AUTHORIZATION.test(answer))
      fail(`acme_challenges.${token}`, 'must be answered by a key authorization')
  }
  integer(table.hsts_seconds, 'hsts_seconds', 0, MAX_HSTS_SECONDS)
}

function validateSite(value: unknown, path: string): void {
  const site = record(value, path)
  absolutePath(site.folder, `${path}.folder`)
  for (const [index, entry] of list(site.earlier, `${path}.earlier`, MAX_EARLIER_SITES).entries()) {
    const earlier = record(entry, `${path}.earlier[${index}]`)
    absolutePath(earlier.folder, `${path}.earlier[${index}].folder`)
    integer(earlier.until, `${path}.earlier[${index}].until`, 0, Number.MAX_SAFE_INTEGER)
  }
}

function absolutePath(value: unknown, path: string): void {
  if (typeof value !== 'string' || !isAbsolute(value) || value.includes('\0'))
    fail(path, 'must be an absolute path')
}

function validateZone(value: unknown, path: string): void {
  const zone = record(value, path)
  if (typeof zone.subnet !== 'string' || zone.subnet.includes(':') || !isNetwork(zone.subnet))
    fail(`${path}.subnet`, 'must be an IPv4 CIDR')
  if (typeof zone.gateway !== 'string' || isIP(zone.gateway) !== 4)
    fail(`${path}.gateway`, 'must be an IPv4 address')
  const names = Object.entries(record(zone.names, `${path}.names`))
  if (names.length > MAX_NAMES) fail(`${path}.names`, `must be at most ${MAX_NAMES}`)
  for (const [name, value] of names) {
    if (!LABEL.test(name)) fail(`${path}.names.${name}`, 'must be a DNS label in lower case')
    for (const address of list(value, `${path}.names.${name}`, MAX_ADDRESSES)) {
      if (typeof address !== 'string' || isIP(address) !== 4)
        fail(`${path}.names.${name}`, 'must be IPv4 addresses')
    }
  }
}

function isNetwork(network: string): boolean {
  const [address, prefix, ...rest] = network.split('/')
  const family = isIP(address ?? '')
  if (family === 0 || rest.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 6 ? 128 : 32))
}

function record(value: unknown, path: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) fail(path, 'must be an object')
  return value as Record<string, unknown>
}

function list(value: unknown, path: string, most: number): unknown[] {
  if (!Array.isArray(value) || value.length > most) fail(path, `must be an array of at most ${most}`)
  return value as unknown[]
}

function integer(value: unknown, path: string, least: number, most: number): void {
  if (!Number.isInteger(value) || (value as number) < least || (value as number) > most) {
    fail(path, `must be an integer from ${least} to ${most}`)
  }
}

function fail(path: string, fault: string): never {
  throw new ChannelError('invalid_table', `${path}: ${fault}`)
}

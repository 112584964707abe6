import { MAX_UPSTREAM_TIMEOUT_MS } from '../limits.ts'
import type { Edge, RedirectStatus } from '../protocol.ts'
import { fail, integer, isNetwork, list, record } from './checks.ts'

/** Each list is far longer than a service may have, and short enough for a worker to read at once. */
const MAX_NETWORKS = 10_000
const MAX_REDIRECTS = 1_000
const MAX_USERS = 1_000
const MAX_PATHS = 1_000
const MAX_HEADERS = 1_000
const MAX_PATH_LENGTH = 4_096
const MAX_PAGE_LENGTH = 1024 * 1024
const MAX_SECONDS = 366 * 24 * 60 * 60
const MAX_REQUESTS = 1_000_000_000

const STATUSES: ReadonlySet<unknown> = new Set<RedirectStatus>([301, 302, 303, 307, 308])
/** The PHC string format, with the salt and 32 bytes in base64 without padding. */
const SCRYPT = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$[A-Za-z0-9+/]{11,88}\$[A-Za-z0-9+/]{43}$/
/** 64 MiB at most for the hash of one password, with `r` of 8. */
const MAX_LN = 16
const MAX_BLOCK = 8
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/
const VALUE = /^[\t\x20-\x7e]*$/
/** Fields that frame the message, or of which a client may get several. */
const FIXED_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Checks what a target asks for at its edge. Throws `ChannelError` `invalid_table` naming the first fault. */
export function validateEdge(value: unknown): void {
  const edge = record(value, '.edge') as { [Name in keyof Edge]: unknown }
  if (edge.allow !== undefined) networks(edge.allow, '.edge.allow')
  each(edge.redirects ?? [], '.edge.redirects', MAX_REDIRECTS, validateRedirect)
  if (edge.maintenance !== undefined) validateMaintenance(edge.maintenance)
  if (edge.rate_limit !== undefined) validateRateLimit(edge.rate_limit)
  if (edge.basic_auth !== undefined) validateBasicAuth(edge.basic_auth)
  each(edge.headers ?? [], '.edge.headers', MAX_HEADERS, validateHeader)
  for (const flag of ['session_affinity', 'access_log'] as const)
    if (edge[flag] !== undefined && typeof edge[flag] !== 'boolean') fail(`.edge.${flag}`, 'must be boolean')
  if (edge.upstream_timeout_ms !== undefined)
    integer(edge.upstream_timeout_ms, '.edge.upstream_timeout_ms', 1, MAX_UPSTREAM_TIMEOUT_MS)
  if (edge.max_body_bytes !== undefined)
    integer(edge.max_body_bytes, '.edge.max_body_bytes', 0, Number.MAX_SAFE_INTEGER)
}

function each(
  value: unknown,
  path: string,
  max: number,
  check: (entry: unknown, path: string) => void,
): void {
  for (const [index, entry] of list(value, path, max).entries()) check(entry, `${path}[${index}]`)
}

function networks(value: unknown, path: string): void {
  each(value, path, MAX_NETWORKS, (network, path) => {
    // A zone (RFC 4007) names an interface, not a network.
    if (typeof network !== 'string' || network.includes('%') || !isNetwork(network))
      fail(path, 'must be a CIDR or an address')
  })
}

function validateRedirect(value: unknown, path: string): void {
  const { from, to, status } = record(value, path)
  pattern(from, `${path}.from`)
  text(to, `${path}.to`, MAX_PATH_LENGTH)
  if (!/^(?:\/(?![/\\])|https?:\/\/)/i.test(to)) fail(`${path}.to`, 'must be a path or an absolute URL')
  if (!STATUSES.has(status)) fail(`${path}.status`, 'must be the status of a redirect')
}

function validateMaintenance(value: unknown): void {
  const { message, page, retry_after_seconds, allow } = record(value, '.edge.maintenance')
  if (message !== undefined) text(message, '.edge.maintenance.message', MAX_PAGE_LENGTH)
  if (page !== undefined) text(page, '.edge.maintenance.page', MAX_PAGE_LENGTH)
  integer(retry_after_seconds, '.edge.maintenance.retry_after_seconds', 0, MAX_SECONDS)
  if (allow !== undefined) networks(allow, '.edge.maintenance.allow')
}

function validateRateLimit(value: unknown): void {
  const { requests, period_seconds, burst } = record(value, '.edge.rate_limit')
  integer(requests, '.edge.rate_limit.requests', 1, MAX_REQUESTS)
  integer(period_seconds, '.edge.rate_limit.period_seconds', 1, MAX_SECONDS)
  integer(burst, '.edge.rate_limit.burst', 0, MAX_REQUESTS)
}

function validateBasicAuth(value: unknown): void {
  const { users, except_paths } = record(value, '.edge.basic_auth')
  each(users, '.edge.basic_auth.users', MAX_USERS, validateUser)
  each(except_paths, '.edge.basic_auth.except_paths', MAX_PATHS, pattern)
}

function validateUser(value: unknown, path: string): void {
  const { username, hash } = record(value, path)
  // A colon ends the name (RFC 7617 2).
  if (typeof username !== 'string' || username === '' || username.includes(':'))
    fail(`${path}.username`, 'must be a name without a colon')
  const [, ln, r, p] = SCRYPT.exec(typeof hash === 'string' ? hash : '') ?? []
  const isRight = Number(ln) >= 1 && Number(ln) <= MAX_LN && Number(r) >= 1 && Number(r) <= MAX_BLOCK
  if (!isRight || Number(p) < 1) fail(`${path}.hash`, 'must be a scrypt hash')
}

function validateHeader(value: unknown, path: string): void {
  const { path: from, name, value: content } = record(value, path)
  pattern(from, `${path}.path`)
  if (typeof name !== 'string' || !NAME.test(name) || FIXED_FIELDS.has(name.toLowerCase()))
    fail(`${path}.name`, 'must name a field that may change')
  if (content !== null && (typeof content !== 'string' || !VALUE.test(content)))
    fail(`${path}.value`, 'must be null or printable ASCII')
}

/** A path in the grammar of `_redirects`. */
function pattern(value: unknown, path: string): void {
  text(value, path, MAX_PATH_LENGTH)
  if (!value.startsWith('/') || !isDecodable(value)) fail(path, 'must be a path')
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

/** Well-formed, because it may have to be encoded. */
function text(value: unknown, path: string, max: number): asserts value is string {
  if (typeof value !== 'string' || value.length > max || !value.isWellFormed())
    fail(path, `must be text of at most ${max} characters`)
}

import { isIP } from 'node:net'
import { availableParallelism, homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { MAX_CONNECTIONS_PER_ADDRESS, MAX_HSTS_SECONDS, MAX_UPSTREAM_TIMEOUT_MS } from '#proxy/limits.ts'
import { AppError } from './errors.ts'
import { LOG_LEVELS, type LogLevel } from './log.ts'
import { readSecret, TOKEN_FORM, WEBHOOK_SECRET_FORM, type SecretForm } from './secret-option.ts'
import { imageFault } from './services/rules.ts'

/** An address to listen on; an IPv6 host is without brackets. */
export interface ListenAddress {
  host: string
  port: number
  /** False for a default, which may give way to another port; a named address may not. */
  named: boolean
}

/** Where new datastores of a kind come from: the tag is the version of those that name none. */
export interface DatastoreImage {
  repository: string
  tag: string
}

/** Everything that is set at start. */
export interface Options {
  dataDirectory: string
  listen: ListenAddress
  httpListen: ListenAddress
  baseDomain: string
  dashboardHost: string | null
  /** Further names at which the API port answers. */
  allowedHosts: string[]
  apiToken: string | null
  dockerHost: string | null
  defaultMemoryMb: number
  defaultCpus: number
  buildConcurrency: number
  buildTimeoutMs: number
  jobConcurrency: number
  proxyWorkers: number | null
  baseImageRegistry: string | null
  relationalImage: DatastoreImage
  keyvalueImage: DatastoreImage
  /** Of push webhooks that were added to a repository by hand; null takes none. */
  webhookSecret: string | null
  /** For the DNS records that are shown; null is the host's own. */
  publicIp: string | null
  trustedProxies: string[]
  upstreamTimeoutMs: number
  maxConnectionsPerIp: number
  /** `max-age` of Strict-Transport-Security on HTTPS answers; 0 sends none. */
  hstsSeconds: number
  logLevel: LogLevel
}

interface Flag {
  variable: string
  help: string
}

/** Every flag of `deployer serve` with the variable it wins over; the help text and the documentation are made from it. */
export const FLAGS = {
  'data-dir': { variable: 'DEPLOYER_DATA_DIR', help: 'where the server keeps everything' },
  listen: { variable: 'DEPLOYER_LISTEN', help: 'address of the API and the dashboard (127.0.0.1:7878)' },
  'http-listen': { variable: 'DEPLOYER_HTTP_LISTEN', help: 'public HTTP address ([::]:80, else [::]:8080)' },
  'base-domain': {
    variable: 'DEPLOYER_BASE_DOMAIN',
    help: 'services answer at <service>.<base domain> (localhost)',
  },
  'dashboard-host': { variable: 'DEPLOYER_DASHBOARD_HOST', help: 'public host of the dashboard, or off' },
  'allowed-hosts': {
    variable: 'DEPLOYER_ALLOWED_HOSTS',
    help: 'further names at which the API port answers, comma-separated',
  },
  'api-token': { variable: 'DEPLOYER_API_TOKEN', help: 'the server token (made at first start)' },
  'api-token-file': { variable: 'DEPLOYER_API_TOKEN_FILE', help: 'file that holds the server token' },
  'webhook-secret': { variable: 'DEPLOYER_WEBHOOK_SECRET', help: 'secret of push webhooks added by hand' },
  'webhook-secret-file': {
    variable: 'DEPLOYER_WEBHOOK_SECRET_FILE',
    help: 'file that holds the secret of push webhooks',
  },
  'docker-host': { variable: 'DOCKER_HOST', help: "the engine's socket, unix:///path" },
  'default-memory-mb': {
    variable: 'DEPLOYER_DEFAULT_MEMORY_MB',
    help: 'memory of a service without a limit, MiB (512)',
  },
  'default-cpus': { variable: 'DEPLOYER_DEFAULT_CPUS', help: 'CPUs of a service without a limit (1)' },
  'build-concurrency': { variable: 'DEPLOYER_BUILD_CONCURRENCY', help: 'builds at one time (1)' },
  'build-timeout': { variable: 'DEPLOYER_BUILD_TIMEOUT', help: 'longest build: 30m, 90s, 1h (30m)' },
  'job-concurrency': {
    variable: 'DEPLOYER_JOB_CONCURRENCY',
    help: 'jobs at one time; further ones wait (4 a core)',
  },
  'proxy-workers': {
    variable: 'DEPLOYER_PROXY_WORKERS',
    help: 'processes of the data plane (cores, at most 4)',
  },
  'base-image-registry': {
    variable: 'DEPLOYER_BASE_IMAGE_REGISTRY',
    help: 'prefix for the base images of language plans',
  },
  'relational-image': {
    variable: 'DEPLOYER_RELATIONAL_IMAGE',
    help: 'image of new relational datastores (postgres:18)',
  },
  'keyvalue-image': {
    variable: 'DEPLOYER_KEYVALUE_IMAGE',
    help: 'image of new key-value datastores (valkey/valkey:9)',
  },
  'public-ip': { variable: 'DEPLOYER_PUBLIC_IP', help: "the server's public address, for DNS records shown" },
  'trusted-proxies': { variable: 'DEPLOYER_TRUSTED_PROXIES', help: 'CIDRs whose X-Forwarded-* are believed' },
  'upstream-timeout': {
    variable: 'DEPLOYER_UPSTREAM_TIMEOUT',
    help: 'longest wait for a response head (300s)',
  },
  'max-connections-per-ip': {
    variable: 'DEPLOYER_MAX_CONNECTIONS_PER_IP',
    help: 'open connections of one address (2000)',
  },
  hsts: { variable: 'DEPLOYER_HSTS', help: 'seconds of Strict-Transport-Security on HTTPS answers (off)' },
  'log-level': { variable: 'DEPLOYER_LOG_LEVEL', help: 'debug, info, warn or error (info)' },
} as const satisfies Record<string, Flag>

type FlagName = keyof typeof FLAGS

/** Flags whose value is a secret; each has another that names a file. */
const SECRETS = ['api-token', 'webhook-secret'] as const
type SecretFlag = (typeof SECRETS)[number]

/**
 * Reads the flags of `deployer serve` and their variables; a flag wins.
 * Throws `invalid_request` with one line that names the flag and what it must be.
 */
export function readOptions(argv: string[], environment: NodeJS.ProcessEnv = process.env): Options {
  const flags = parseFlags(argv)
  const text = (name: FlagName): string | null => {
    const value = flags[name] ?? environment[FLAGS[name].variable]
    return value === undefined || value === '' ? null : value
  }
  const number = (name: FlagName, fallback: number, least: number, most = Infinity): number => {
    const value = text(name)
    if (value === null) return fallback
    if (!/^\d+(\.\d+)?$/.test(value) || Number(value) < least)
      throw bad(name, `a number, at least ${least}`, value)
    if (Number(value) > most) throw bad(name, `a number, at most ${most}`, value)
    return Number(value)
  }
  const count = (name: FlagName, fallback: number, least = 1, most = Infinity): number => {
    const value = number(name, fallback, least, most)
    if (!Number.isInteger(value)) throw bad(name, 'a whole number', String(value))
    return value
  }
  const secret = (name: SecretFlag, form: SecretForm): string | null => {
    const given = (flag: FlagName) => ({ title: title(flag), value: text(flag) })
    return readSecret(given(name), given(`${name}-file`), form)
  }
  const baseDomain = readDomain('base-domain', text('base-domain') ?? 'localhost')
  return {
    dataDirectory: resolve(text('data-dir') ?? defaultDataDirectory(environment)),
    listen: readListen('listen', text('listen'), { host: '127.0.0.1', port: 7878 }),
    httpListen: readListen('http-listen', text('http-listen'), { host: '::', port: 80 }),
    baseDomain,
    dashboardHost: readDashboardHost(text('dashboard-host'), baseDomain),
    apiToken: secret('api-token', TOKEN_FORM),
    allowedHosts: listOf(text('allowed-hosts')).map((host) => readDomain('allowed-hosts', host)),
    dockerHost: text('docker-host'),
    defaultMemoryMb: count('default-memory-mb', 512, MIN_MEMORY_MB),
    defaultCpus: number('default-cpus', 1, 0.01),
    buildConcurrency: count('build-concurrency', 1),
    buildTimeoutMs: readDuration('build-timeout', text('build-timeout'), 30 * 60_000),
    jobConcurrency: count('job-concurrency', JOBS_A_CORE * availableParallelism()),
    proxyWorkers: text('proxy-workers') === null ? null : count('proxy-workers', 1),
    baseImageRegistry: text('base-image-registry'),
    webhookSecret: secret('webhook-secret', WEBHOOK_SECRET_FORM),
    relationalImage: readImage('relational-image', text('relational-image') ?? 'postgres:18'),
    keyvalueImage: readImage('keyvalue-image', text('keyvalue-image') ?? 'valkey/valkey:9'),
    publicIp: readIp('public-ip', text('public-ip')),
    trustedProxies: readCidrs('trusted-proxies', text('trusted-proxies')),
    upstreamTimeoutMs: readDuration('upstream-timeout', text('upstream-timeout'), 300_000),
    maxConnectionsPerIp: count('max-connections-per-ip', 2_000, 1, MAX_CONNECTIONS_PER_ADDRESS),
    hstsSeconds: text('hsts') === 'off' ? 0 : count('hsts', 0, 0, MAX_HSTS_SECONDS),
    logLevel: readLogLevel(text('log-level')),
  }
}

function parseFlags(argv: string[]): Partial<Record<FlagName, string>> {
  const options = Object.fromEntries(Object.keys(FLAGS).map((name) => [name, { type: 'string' as const }]))
  try {
    return parseArgs({ args: argv, options, strict: true }).values
  } catch (cause) {
    throw new AppError(
      'invalid_request',
      `${(cause as Error).message.split('. ')[0]}. See deployer serve --help.`,
      { cause },
    )
  }
}

function bad(name: FlagName, wanted: string, value: string): AppError {
  return new AppError('invalid_request', `${title(name)} must be ${wanted}, not "${value}"`)
}

function title(name: FlagName): string {
  return `--${name} (${FLAGS[name].variable})`
}

function defaultDataDirectory(environment: NodeJS.ProcessEnv): string {
  if (process.getuid?.() === 0) return '/var/lib/deployer'
  return join(environment.XDG_DATA_HOME || join(homedir(), '.local/share'), 'deployer')
}

/** Most jobs wait for a database or the network more than they compute. */
const JOBS_A_CORE = 4

/** Less starts no program (the engine's own least is 6). */
const MIN_MEMORY_MB = 16

const MAX_PORT = 65_535

function readListen(
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

function readDomain(name: FlagName, value: string): string {
  const domain = value.toLowerCase().replace(/\.$/, '')
  const valid =
    domain.length <= 253 &&
    domain.split('.').every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label))
  if (!valid) throw bad(name, 'a domain name', value)
  return domain
}

function readDashboardHost(value: string | null, baseDomain: string): string | null {
  if (value === 'off') return null
  if (value !== null) return readDomain('dashboard-host', value)
  return isLocalDomain(baseDomain) ? null : `dashboard.${baseDomain}`
}

function readIp(name: FlagName, value: string | null): string | null {
  if (value !== null && isIP(value) === 0) throw bad(name, 'an IP address', value)
  return value
}

function listOf(value: string | null): string[] {
  return (value ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

/** Comma-separated addresses with a prefix length (RFC 4632, RFC 4291 section 2.3). */
function readCidrs(name: FlagName, value: string | null): string[] {
  const cidrs = listOf(value)
  for (const cidr of cidrs) {
    const [address = '', prefix = ''] = cidr.split('/')
    const longest = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
    if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > longest)
      throw bad(name, 'CIDRs such as 10.0.0.0/8', cidr)
  }
  return cidrs
}

/** Names that no public authority certifies and no public DNS serves (RFC 2606, RFC 6761, RFC 6762, RFC 8375). */
export function isLocalDomain(domain: string): boolean {
  return (
    /(^|\.)(localhost|local|test|example|invalid|internal|home\.arpa)$/.test(domain) || !domain.includes('.')
  )
}

/** What to tell who put a secret on the command line, a sentence each. */
export function exposedSecrets(argv: string[]): string[] {
  const flags = parseFlags(argv)
  return SECRETS.filter((name) => flags[name] !== undefined).map(
    (name) =>
      `every user of this host can read --${name} in the list of processes: use --${name}-file (${FLAGS[`${name}-file`].variable}), and a new secret`,
  )
}

/** A reference with a tag, which becomes a datastore's version. */
function readImage(name: FlagName, value: string): DatastoreImage {
  const colon = value.lastIndexOf(':')
  const tag = value.slice(colon + 1)
  if (imageFault(value) !== null || value.includes('@') || colon === -1 || tag.includes('/'))
    throw bad(name, 'an image with a tag, such as postgres:18', value)
  return { repository: value.slice(0, colon), tag }
}

/** The most that the data plane takes is also longer than anyone waits for a build. */
const LONGEST_DURATION_MS = MAX_UPSTREAM_TIMEOUT_MS

const UNIT_MS: Record<string, number> = { '': 1_000, ms: 1, s: 1_000, m: 60_000, min: 60_000, h: 3_600_000 }

function readDuration(name: FlagName, value: string | null, fallbackMs: number): number {
  if (value === null) return fallbackMs
  const match = /^(\d+)\s*(ms|s|m|min|h)?$/.exec(value)
  const milliseconds = Number(match?.[1]) * UNIT_MS[match?.[2] ?? '']!
  if (!match || milliseconds === 0 || milliseconds > LONGEST_DURATION_MS) {
    throw bad(name, 'a duration such as 90s, 30m or 1h, a day at most', value)
  }
  return milliseconds
}

function readLogLevel(value: string | null): LogLevel {
  if (value === null) return 'info'
  if (!(LOG_LEVELS as readonly string[]).includes(value)) throw bad('log-level', LOG_LEVELS.join(', '), value)
  return value as LogLevel
}

import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { availableParallelism, homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import { parseArgs } from 'node:util'
import { MAX_CONNECTIONS_PER_ADDRESS, MAX_HSTS_SECONDS, MAX_UPSTREAM_TIMEOUT_MS } from '#proxy/limits.ts'
import { isLocalName, normalName } from './domains/names.ts'
import { readDnsProvider, type DnsProvider } from './dns-provider.ts'
import { AppError, messageOf } from './errors.ts'
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
  httpsListen: ListenAddress
  /** `auto` serves HTTPS and seeks certificates for every host that is not local. */
  tls: Tls
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
  /** For the DNS records that are shown, one of a family; empty means the host's own. */
  publicIps: string[]
  /** Where the internet reaches the HTTP listener; null is the listener's own port. */
  publicHttpPort: number | null
  /** In place of the host's own resolvers, as node takes them; empty for the host's. */
  dnsResolvers: string[]
  acme: AcmeOptions
  trustedProxies: string[]
  upstreamTimeoutMs: number
  maxConnectionsPerIp: number
  /** `max-age` of Strict-Transport-Security on HTTPS answers; 0 sends none. */
  hstsSeconds: number
  logLevel: LogLevel
}

const TLS = ['auto', 'off'] as const
export type Tls = (typeof TLS)[number]

/** The certificate authority. */
export interface AcmeOptions {
  directory: string
  email: string | null
  /** PEM certificates that are trusted when the authority itself is spoken to; null for the usual ones. */
  trusted: string | null
  /** Binds the account to one that the authority knows (RFC 8555 section 7.3.4). */
  externalAccount: { kid: string; key: string } | null
  /** Who puts proofs into DNS, by which wildcards are certified; null for nobody. */
  dns: DnsProvider | null
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
  'https-listen': {
    variable: 'DEPLOYER_HTTPS_LISTEN',
    help: 'public HTTPS address ([::]:443, else [::]:8443)',
  },
  tls: { variable: 'DEPLOYER_TLS', help: 'auto or off (auto: HTTPS for all that is not local)' },
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
  'public-ip': {
    variable: 'DEPLOYER_PUBLIC_IP',
    help: "the server's public address, or one of each family, for DNS records shown",
  },
  'public-http-port': {
    variable: 'DEPLOYER_PUBLIC_HTTP_PORT',
    help: "where the internet reaches the HTTP listener (the listener's port)",
  },
  'dns-resolvers': {
    variable: 'DEPLOYER_DNS_RESOLVERS',
    help: "addresses, with ports or without, in place of the host's resolvers",
  },
  'acme-email': { variable: 'DEPLOYER_ACME_EMAIL', help: 'where the certificate authority may write to' },
  'acme-directory': {
    variable: 'DEPLOYER_ACME_DIRECTORY',
    help: "the certificate authority (Let's Encrypt)",
  },
  'acme-ca-file': {
    variable: 'DEPLOYER_ACME_CA_FILE',
    help: 'PEM certificates by which a private authority is known',
  },
  'acme-eab-kid': {
    variable: 'DEPLOYER_ACME_EAB_KID',
    help: 'id of the account that the authority has given out',
  },
  'acme-eab-key': { variable: 'DEPLOYER_ACME_EAB_KEY', help: 'its key, base64url' },
  'acme-dns': {
    variable: 'DEPLOYER_ACME_DNS',
    help: 'exec, rfc2136 or cloudflare: wildcard certificates through DNS',
  },
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
    httpsListen: readListen('https-listen', text('https-listen'), { host: '::', port: 443 }),
    tls: readChoice('tls', text('tls'), TLS, 'auto'),
    baseDomain,
    dashboardHost: readDashboardHost(text('dashboard-host'), baseDomain),
    apiToken: secret('api-token', TOKEN_FORM),
    allowedHosts: readList(text('allowed-hosts')).map((host) => readDomain('allowed-hosts', host)),
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
    publicIps: readIps('public-ip', text('public-ip')),
    publicHttpPort: text('public-http-port') === null ? null : count('public-http-port', 0, 1, MAX_PORT),
    dnsResolvers: readResolvers('dns-resolvers', text('dns-resolvers')),
    acme: {
      directory: readHttpsUrl('acme-directory', text('acme-directory')) ?? LETS_ENCRYPT,
      email: readEmail('acme-email', text('acme-email')),
      trusted: readCertificates('acme-ca-file', text('acme-ca-file')),
      externalAccount: readExternalAccount(text('acme-eab-kid'), text('acme-eab-key')),
      dns: readDnsProvider(text('acme-dns'), environment),
    },
    trustedProxies: readCidrs('trusted-proxies', text('trusted-proxies')),
    upstreamTimeoutMs: readDuration('upstream-timeout', text('upstream-timeout'), 300_000),
    maxConnectionsPerIp: count('max-connections-per-ip', 2_000, 1, MAX_CONNECTIONS_PER_ADDRESS),
    hstsSeconds: text('hsts') === 'off' ? 0 : count('hsts', 0, 0, MAX_HSTS_SECONDS),
    logLevel: readChoice('log-level', text('log-level'), LOG_LEVELS, 'info'),
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

const LETS_ENCRYPT = 'https://acme-v02.api.letsencrypt.org/directory'

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
  try {
    return normalName(value, `--${name} (${FLAGS[name].variable})`)
  } catch (cause) {
    throw new AppError('invalid_request', `${messageOf(cause)}, not "${value}"`, { cause })
  }
}

function readDashboardHost(value: string | null, baseDomain: string): string | null {
  if (value === 'off') return null
  if (value !== null) return readDomain('dashboard-host', value)
  return isLocalName(baseDomain) ? null : `dashboard.${baseDomain}`
}

function readList(value: string | null): string[] {
  return (value ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}

function readIps(name: FlagName, value: string | null): string[] {
  const addresses = readList(value)
  const families = addresses.map((address) => isIP(address))
  if (families.includes(0) || new Set(families).size < families.length)
    throw bad(name, 'an IP address, or one of each family with a comma between', value!)
  return addresses
}

/** As node takes them (RFC 5952 section 6 for IPv6 with a port). */
function readResolvers(name: FlagName, value: string | null): string[] {
  return readList(value).map((entry) => {
    const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(entry) ?? []
    const isKnown =
      isIP(entry) !== 0 || (isIP(bracketed ?? plain ?? '') !== 0 && Number(port ?? 53) <= MAX_PORT)
    if (!isKnown) throw bad(name, 'addresses such as 192.0.2.53 or [2001:db8::53]:5353', entry)
    return entry
  })
}

function readHttpsUrl(name: FlagName, value: string | null): string | null {
  if (value !== null && URL.parse(value)?.protocol !== 'https:') throw bad(name, 'an https URL', value)
  return value
}

function readEmail(name: FlagName, value: string | null): string | null {
  if (value !== null && !/^[^\s@,]+@[^\s@,]+$/.test(value)) throw bad(name, 'an e-mail address', value)
  return value
}

/** The content of a file of PEM certificates: what is wrong with it is said at start, not at the first order. */
function readCertificates(name: FlagName, file: string | null): string | null {
  if (file === null) return null
  try {
    const pem = readFileSync(file, 'utf8')
    createSecureContext({ ca: pem })
    if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw new Error('it holds no certificate')
    return pem
  } catch (cause) {
    throw bad(name, `a readable file of PEM certificates (${messageOf(cause)})`, file)
  }
}

/** Comma-separated addresses with a prefix length (RFC 4632, RFC 4291 section 2.3). */
function readCidrs(name: FlagName, value: string | null): string[] {
  const cidrs = readList(value)
  for (const cidr of cidrs) {
    const [address = '', prefix = ''] = cidr.split('/')
    const longest = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
    if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > longest)
      throw bad(name, 'CIDRs such as 10.0.0.0/8', cidr)
  }
  return cidrs
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

function readExternalAccount(kid: string | null, key: string | null): AcmeOptions['externalAccount'] {
  if (kid === null && key === null) return null
  if (kid === null || key === null || !/^[A-Za-z0-9_-]{16,}$/.test(key))
    throw new AppError(
      'invalid_request',
      '--acme-eab-kid and --acme-eab-key (DEPLOYER_ACME_EAB_KID, DEPLOYER_ACME_EAB_KEY) go together; the key is base64url',
    )
  return { kid, key }
}

function readChoice<Choice extends string>(
  name: FlagName,
  value: string | null,
  choices: readonly Choice[],
  fallback: Choice,
): Choice {
  if (value === null) return fallback
  if (!(choices as readonly string[]).includes(value)) throw bad(name, choices.join(', '), value)
  return value as Choice
}

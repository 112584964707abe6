import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { MAX_CONNECTIONS_PER_ADDRESS, MAX_HSTS_SECONDS } from '#proxy/limits.ts'
import { isLocalName } from '../domains/names.ts'
import { AppError } from '../errors.ts'
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from '../log.ts'
import { MIN_MEMORY_MB } from '../schema.ts'
import { readBucket, type BucketOptions } from './bucket.ts'
import { defaultDataDirectory } from './data-directory.ts'
import { readDiskFloor, type DiskFloor } from './disk-floor.ts'
import { readDnsProvider, type DnsProvider } from './dns-provider.ts'
import { bad, FLAGS, parseFlags, title, type FlagName } from './flags.ts'
import { readHeartbeatUrl } from './heartbeat.ts'
import { readersOf, type Readers } from './readers.ts'
import { readPassphrase, S3_KEY_FORM, SMTP_URL_FORM, TOKEN_FORM, WEBHOOK_SECRET_FORM } from './secrets.ts'
import {
  MAX_PORT,
  readAddress,
  readCertificates,
  readChoice,
  readCidrs,
  readDomain,
  readDuration,
  readEmail,
  readHost,
  readHttpsUrl,
  readImage,
  readImageName,
  readIps,
  readList,
  readListen,
  readResolvers,
  readRetention,
  readServerName,
  readSwitch,
  type DatastoreImage,
  type ListenAddress,
} from './values.ts'

/** Everything that is configured at start. */
export interface Options {
  /** The settings that were given, by the variable of each, as texts. */
  given: Record<string, string>
  dataDirectory: string
  listen: ListenAddress
  httpListen: ListenAddress
  httpsListen: ListenAddress
  /** `auto` serves HTTPS and gets certificates for every host that is not local. */
  tls: Tls
  baseDomain: string
  dashboardHost: string | null
  /** Additional host names of the API port. */
  allowedHosts: string[]
  apiToken: string | null
  dockerHost: string | null
  defaultMemoryMb: number
  defaultCpus: number
  buildConcurrency: number
  buildTimeoutMs: number
  jobConcurrency: number
  proxyWorkers: number | null
  /** `wait` never starts the data plane, because a service manager does. */
  dataPlane: DataPlaneStart
  baseImageRegistry: string | null
  relationalImage: DatastoreImage
  keyvalueImage: DatastoreImage
  /** Where other nodes reach this host; null for the address of the default route's interface. */
  nodeAddress: string | null
  /** The port at which the server and the agents of other nodes listen for each other. */
  nodePort: number
  /** The image that the agent of other nodes is built on. */
  nodeImage: string
  registryImage: string
  /** The bucket that backups are copied to; null for none. */
  backupBucket: BucketOptions | null
  /** Seals backups that leave the host, and server backups; null leaves them open. */
  backupPassphrase: string | null
  /** The secret of push webhooks that were added to a repository by hand; null accepts none. */
  webhookSecret: string | null
  /** Denies private and loopback addresses to repositories and providers. */
  denyPrivateGit: boolean
  /** Lets containers reach link-local and metadata addresses. */
  allowMetadata: boolean
  /** The addresses in the DNS records that are shown, at most one of each family; empty for the host's own. */
  publicIps: string[]
  /** The port at which the internet reaches the HTTP listener; null for the listener's own port. */
  publicHttpPort: number | null
  /** Resolvers to use instead of the host's, in node's notation; empty for the host's. */
  dnsResolvers: string[]
  acme: AcmeOptions
  trustedProxies: string[]
  upstreamTimeoutMs: number
  maxConnectionsPerIp: number
  /** `max-age` of Strict-Transport-Security on HTTPS answers; 0 sends none. */
  hstsSeconds: number
  /** Whether the plain listener speaks HTTP/2 with clients that start with it. */
  h2c: boolean
  logLevel: LogLevel
  logFormat: LogFormat
  /** How long the output of services is kept. */
  logRetentionMs: number
  auditRetentionMs: number
  /** Limit for the output of one service. */
  logSizeMb: number
  /** How much of the disk must be free for a build to start. */
  diskFloor: DiskFloor
  /** The mail server and the sender of notifications; null when no e-mail is sent. */
  mail: { url: string; from: string } | null
  /** What notifications call this server; null when they do not name it. */
  serverName: string | null
  /** Requested while the server and its engine are well; null when nothing is. */
  heartbeatUrl: string | null
}

const DATA_PLANE_STARTS = ['start', 'wait'] as const
type DataPlaneStart = (typeof DATA_PLANE_STARTS)[number]

const TLS = ['auto', 'off'] as const
export type Tls = (typeof TLS)[number]

/** The URL of the certificate authority. */
export interface AcmeOptions {
  directory: string
  email: string | null
  /** PEM certificates to trust when connecting to the authority; null for the usual ones. */
  trusted: string | null
  /** Binds the account to an existing one of the authority (RFC 8555 section 7.3.4). */
  externalAccount: { kid: string; key: string } | null
  /** How ACME challenges are put into DNS, which wildcard certificates need; null for none. */
  dns: DnsProvider | null
}

/**
 * Reads the flags of `deployer serve` and their variables; a flag wins. Throws `invalid_request` with one line that names
 * the flag and what it must be.
 */
export function readOptions(argv: string[], environment: NodeJS.ProcessEnv = process.env): Options {
  const flags = parseFlags(argv)
  const readers = readersOf(flags, environment)
  const { text, number, count, secret } = readers
  // Such as from an unset shell variable: the server would start with a new, default directory.
  if (flags['data-dir'] === '') throw bad('data-dir', 'a directory', '')
  const baseDomain = readDomain('base-domain', text('base-domain') ?? 'localhost')
  return {
    given: givenTexts(text),
    dataDirectory: resolve(text('data-dir') ?? defaultDataDirectory(environment)),
    listen: readListen('listen', text('listen'), { host: '127.0.0.1', port: 7878 }),
    ...readServiceListeners(text),
    baseDomain,
    dashboardHost: readDashboardHost(text('dashboard-host'), baseDomain),
    apiToken: secret('api-token', TOKEN_FORM),
    allowedHosts: readList(text('allowed-hosts')).map((host) => readHost('allowed-hosts', host)),
    dockerHost: text('docker-host'),
    defaultMemoryMb: count('default-memory-mb', 512, MIN_MEMORY_MB),
    defaultCpus: number('default-cpus', 1, 0.01),
    buildConcurrency: count('build-concurrency', 1),
    buildTimeoutMs: readDuration('build-timeout', text('build-timeout'), 30 * 60_000),
    jobConcurrency: count('job-concurrency', JOBS_PER_CORE * availableParallelism()),
    proxyWorkers: text('proxy-workers') === null ? null : count('proxy-workers', 1),
    dataPlane: readChoice('data-plane', text('data-plane'), DATA_PLANE_STARTS, 'start'),
    baseImageRegistry: text('base-image-registry'),
    webhookSecret: secret('webhook-secret', WEBHOOK_SECRET_FORM),
    denyPrivateGit: readSwitch('deny-private-git', text('deny-private-git')),
    allowMetadata: readSwitch('allow-metadata', text('allow-metadata')),
    relationalImage: readImage('relational-image', text('relational-image') ?? 'postgres:18'),
    keyvalueImage: readImage('keyvalue-image', text('keyvalue-image') ?? 'valkey/valkey:9'),
    ...readNodes(readers),
    backupBucket: readBackupBucket(readers),
    backupPassphrase: readBackupPassphrase(text),
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
    h2c: readSwitch('h2c', text('h2c')),
    logLevel: readChoice('log-level', text('log-level'), LOG_LEVELS, 'info'),
    logFormat: readChoice('log-format', text('log-format'), LOG_FORMATS, 'auto'),
    logRetentionMs: readRetention('log-retention', text('log-retention') ?? '7d'),
    auditRetentionMs: readRetention('audit-retention', text('audit-retention') ?? '365d'),
    logSizeMb: count('log-size-mb', 100, 1, MAX_LOG_SIZE_MB),
    diskFloor: readDiskFloor('disk-floor', text('disk-floor') ?? '5%'),
    mail: readMail(secret('smtp-url', SMTP_URL_FORM), text('smtp-from')),
    serverName: readServerName('server-name', text('server-name')),
    heartbeatUrl: readHeartbeatUrl(secret),
  }
}

function givenTexts(text: Readers['text']): Options['given'] {
  const names = Object.keys(FLAGS) as FlagName[]
  const given = names.map((name): [string, string | null] => [FLAGS[name].variable, text(name)])
  return Object.fromEntries(given.filter((entry): entry is [string, string] => entry[1] !== null))
}

/** The secrets among the options. */
export function secretsOf({
  apiToken,
  webhookSecret,
  backupBucket,
  backupPassphrase,
  acme,
}: Options): string[] {
  const { dns, externalAccount } = acme
  const ofDns = dns?.kind === 'cloudflare' ? dns.token : dns?.kind === 'rfc2136' ? dns.tsig?.secret : null
  return [
    apiToken,
    webhookSecret,
    backupBucket?.secretAccessKey,
    backupPassphrase,
    externalAccount?.key,
    ofDns,
  ].filter((secret) => typeof secret === 'string')
}

/** 1 TiB. */
const MAX_LOG_SIZE_MB = 1_048_576

/** Most jobs wait for a database or the network more than they compute. */
const JOBS_PER_CORE = 4

const LETS_ENCRYPT = 'https://acme-v02.api.letsencrypt.org/directory'

/** The addresses of the services' listeners. Throws `invalid_request` when both are the same. */
function readServiceListeners(text: Readers['text']): Pick<Options, 'httpListen' | 'httpsListen' | 'tls'> {
  const tls = readChoice('tls', text('tls'), TLS, 'auto')
  const httpListen = readListen('http-listen', text('http-listen'), { host: '::', port: 80 })
  const httpsListen = readListen('https-listen', text('https-listen'), { host: '::', port: 443 })
  const isSame = httpListen.host === httpsListen.host && httpListen.port === httpsListen.port
  if (tls !== 'off' && isSame)
    throw bad('https-listen', 'another address than that of --http-listen', text('https-listen') ?? ':443')
  return { httpListen, httpsListen, tls }
}

/** What nodes other than the server's own are reached and served with. */
function readNodes({
  text,
  count,
}: Readers): Pick<Options, 'nodeAddress' | 'nodePort' | 'nodeImage' | 'registryImage'> {
  return {
    nodeAddress: readAddress('node-address', text('node-address')),
    nodePort: count('node-port', 7_879, 1, MAX_PORT),
    nodeImage: readImageName('node-image', text('node-image') ?? 'node:26.10.0-slim'),
    registryImage: readImageName('registry-image', text('registry-image') ?? 'registry:3'),
  }
}

function readBackupBucket({ text, secret }: Readers): BucketOptions | null {
  const keys = () => ({
    accessKeyId: secret('backup-s3-key', S3_KEY_FORM),
    secretAccessKey: secret('backup-s3-secret', S3_KEY_FORM),
  })
  const areKeysInFiles = text('backup-s3-key-file') !== null || text('backup-s3-secret-file') !== null
  return readBucket({
    url: text('backup-s3-url'),
    region: text('backup-s3-region'),
    ...keys(),
    ...(areKeysInFiles && { readKeys: keys }),
  })
}

function readBackupPassphrase(text: Readers['text']): string | null {
  const path = text('backup-passphrase-file')
  return path === null ? null : readPassphrase(title('backup-passphrase-file'), path)
}

function readDashboardHost(value: string | null, baseDomain: string): string | null {
  if (value === 'off') return null
  if (value !== null) return readDomain('dashboard-host', value)
  return isLocalName(baseDomain) ? null : `dashboard.${baseDomain}`
}

function readExternalAccount(kid: string | null, key: string | null): AcmeOptions['externalAccount'] {
  if (kid === null && key === null) return null
  if (kid === null || key === null || !/^[A-Za-z0-9_-]{16,}$/.test(key))
    throw new AppError(
      'invalid_request',
      '--acme-eab-kid and --acme-eab-key (DEPLOYER_ACME_EAB_KID, DEPLOYER_ACME_EAB_KEY) must be set together; the key is base64url',
    )
  return { kid, key }
}

function readMail(url: string | null, from: string | null): Options['mail'] {
  if (url === null && from === null) return null
  if (url === null || from === null)
    throw new AppError(
      'invalid_request',
      '--smtp-url and --smtp-from (DEPLOYER_SMTP_URL, DEPLOYER_SMTP_FROM) must be set together',
    )
  if (!URL.canParse(url))
    throw new AppError('invalid_request', '--smtp-url (DEPLOYER_SMTP_URL) must be a URL')
  return { url, from: readEmail('smtp-from', from)! }
}

import { parseArgs } from 'node:util'
import { AppError, messageOf } from '../errors.ts'

interface Flag {
  variable: string
  help: string
}

/**
 * All flags of `deployer serve`, each with the variable that it overrides. The help text and the documentation are generated
 * from it.
 */
export const FLAGS = {
  'data-dir': { variable: 'DEPLOYER_DATA_DIR', help: 'where the server keeps everything' },
  listen: { variable: 'DEPLOYER_LISTEN', help: 'address of the API and the dashboard (127.0.0.1:7878)' },
  'http-listen': { variable: 'DEPLOYER_HTTP_LISTEN', help: 'public HTTP address ([::]:80, or [::]:8080)' },
  'https-listen': {
    variable: 'DEPLOYER_HTTPS_LISTEN',
    help: 'public HTTPS address ([::]:443, or [::]:8443)',
  },
  tls: { variable: 'DEPLOYER_TLS', help: 'auto or off (auto: HTTPS for every host that is not local)' },
  'base-domain': {
    variable: 'DEPLOYER_BASE_DOMAIN',
    help: 'services answer at <service>.<base domain> (localhost)',
  },
  'dashboard-host': { variable: 'DEPLOYER_DASHBOARD_HOST', help: 'public host of the dashboard, or off' },
  'allowed-hosts': {
    variable: 'DEPLOYER_ALLOWED_HOSTS',
    help: 'additional host names of the API port, comma-separated',
  },
  'api-token': { variable: 'DEPLOYER_API_TOKEN', help: 'the server token (created at first start)' },
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
  'build-concurrency': { variable: 'DEPLOYER_BUILD_CONCURRENCY', help: 'maximum concurrent builds (1)' },
  'build-timeout': {
    variable: 'DEPLOYER_BUILD_TIMEOUT',
    help: 'maximum duration of a build: 30m, 90s, 1h (30m)',
  },
  'job-concurrency': {
    variable: 'DEPLOYER_JOB_CONCURRENCY',
    help: 'maximum concurrent jobs; others wait (4 per core)',
  },
  'proxy-workers': {
    variable: 'DEPLOYER_PROXY_WORKERS',
    help: 'processes of the data plane (cores, at most 4)',
  },
  'data-plane': {
    variable: 'DEPLOYER_DATA_PLANE',
    help: 'start or wait (start: the server starts the data plane; wait: a unit of its own does)',
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
  'node-address': {
    variable: 'DEPLOYER_NODE_ADDRESS',
    help: "address at which other nodes reach this host (that of the default route's interface)",
  },
  'node-port': {
    variable: 'DEPLOYER_NODE_PORT',
    help: 'TCP port between nodes, for the server and its agents (7879)',
  },
  'node-image': {
    variable: 'DEPLOYER_NODE_IMAGE',
    help: 'image with node that the agent of other nodes is built on (node:26.10.0-slim)',
  },
  'registry-image': {
    variable: 'DEPLOYER_REGISTRY_IMAGE',
    help: 'image of the registry from which other nodes get images (registry:3)',
  },
  'backup-s3-url': {
    variable: 'DEPLOYER_BACKUP_S3_URL',
    help: 'bucket that backups are copied to: https://endpoint/bucket/prefix',
  },
  'backup-s3-key': { variable: 'DEPLOYER_BACKUP_S3_KEY', help: 'its access key id' },
  'backup-s3-key-file': {
    variable: 'DEPLOYER_BACKUP_S3_KEY_FILE',
    help: 'file that holds its access key id',
  },
  'backup-s3-secret': { variable: 'DEPLOYER_BACKUP_S3_SECRET', help: 'its secret access key' },
  'backup-s3-secret-file': {
    variable: 'DEPLOYER_BACKUP_S3_SECRET_FILE',
    help: 'file that holds its secret access key',
  },
  'backup-s3-region': {
    variable: 'DEPLOYER_BACKUP_S3_REGION',
    help: "its region (the one in the endpoint's name, else us-east-1)",
  },
  'backup-passphrase-file': {
    variable: 'DEPLOYER_BACKUP_PASSPHRASE_FILE',
    help: 'file that holds the passphrase with which backups are sealed',
  },
  'public-ip': {
    variable: 'DEPLOYER_PUBLIC_IP',
    help: "the server's public address, or one of each family, for the DNS records shown",
  },
  'public-http-port': {
    variable: 'DEPLOYER_PUBLIC_HTTP_PORT',
    help: "port at which the internet reaches the HTTP listener (the listener's port)",
  },
  'dns-resolvers': {
    variable: 'DEPLOYER_DNS_RESOLVERS',
    help: "addresses, with or without ports, in place of the host's resolvers",
  },
  'acme-email': { variable: 'DEPLOYER_ACME_EMAIL', help: 'contact address for the certificate authority' },
  'acme-directory': {
    variable: 'DEPLOYER_ACME_DIRECTORY',
    help: "the certificate authority (Let's Encrypt)",
  },
  'acme-ca-file': {
    variable: 'DEPLOYER_ACME_CA_FILE',
    help: 'PEM certificates to trust for a private authority',
  },
  'acme-eab-kid': {
    variable: 'DEPLOYER_ACME_EAB_KID',
    help: 'id of an account that the authority issued',
  },
  'acme-eab-key': { variable: 'DEPLOYER_ACME_EAB_KEY', help: 'its key, base64url' },
  'acme-dns': {
    variable: 'DEPLOYER_ACME_DNS',
    help: 'exec, rfc2136 or cloudflare: wildcard certificates through DNS',
  },
  'trusted-proxies': {
    variable: 'DEPLOYER_TRUSTED_PROXIES',
    help: 'CIDRs whose X-Forwarded-* headers are trusted',
  },
  'upstream-timeout': {
    variable: 'DEPLOYER_UPSTREAM_TIMEOUT',
    help: 'maximum wait for response headers (300s)',
  },
  'max-connections-per-ip': {
    variable: 'DEPLOYER_MAX_CONNECTIONS_PER_IP',
    help: 'maximum open connections per client network (2000)',
  },
  'deny-private-git': {
    variable: 'DEPLOYER_DENY_PRIVATE_GIT',
    help: 'on keeps git and its providers off private and loopback addresses (off)',
  },
  'allow-metadata': {
    variable: 'DEPLOYER_ALLOW_METADATA',
    help: 'on lets containers reach link-local and metadata addresses (off)',
  },
  hsts: {
    variable: 'DEPLOYER_HSTS',
    help: 'max-age of Strict-Transport-Security in HTTPS answers, in seconds (off)',
  },
  h2c: {
    variable: 'DEPLOYER_H2C',
    help: 'on accepts cleartext HTTP/2 with prior knowledge (off)',
  },
  'log-retention': {
    variable: 'DEPLOYER_LOG_RETENTION',
    help: 'how long the output of services is kept: 7d, 12h (7d)',
  },
  'audit-retention': {
    variable: 'DEPLOYER_AUDIT_RETENTION',
    help: 'how long the audit log is kept: 365d, 12h (365d)',
  },
  'log-size-mb': { variable: 'DEPLOYER_LOG_SIZE_MB', help: 'disk for the output of one service, MiB (100)' },
  'disk-floor': {
    variable: 'DEPLOYER_DISK_FLOOR',
    help: 'builds wait while less of a disk is free: 5%, 2GiB (5%, at least 1GiB)',
  },
  'smtp-url': {
    variable: 'DEPLOYER_SMTP_URL',
    help: 'mail server for notifications, smtp://user:password@host:587',
  },
  'smtp-url-file': { variable: 'DEPLOYER_SMTP_URL_FILE', help: 'file that holds that URL' },
  'smtp-from': { variable: 'DEPLOYER_SMTP_FROM', help: 'sender of notifications by e-mail' },
  'server-name': {
    variable: 'DEPLOYER_SERVER_NAME',
    help: 'what notifications call this server (they do not name it)',
  },
  'heartbeat-url': {
    variable: 'DEPLOYER_HEARTBEAT_URL',
    help: 'URL requested each minute while the server and its engine are well',
  },
  'heartbeat-url-file': { variable: 'DEPLOYER_HEARTBEAT_URL_FILE', help: 'file that holds that URL' },
  'log-level': { variable: 'DEPLOYER_LOG_LEVEL', help: 'debug, info, warn or error (info)' },
  'log-format': {
    variable: 'DEPLOYER_LOG_FORMAT',
    help: 'json, pretty or auto: pretty on a terminal (auto)',
  },
} as const satisfies Record<string, Flag>

export type FlagName = keyof typeof FLAGS
/** Flags with a secret as value. Each has a second flag that names a file. */
const SECRETS = ['api-token', 'webhook-secret', 'backup-s3-secret', 'smtp-url', 'heartbeat-url'] as const
export type SecretFlag = (typeof SECRETS)[number]

/** Flags that mean `on` without a value. */
const SWITCHES: readonly string[] = ['--allow-metadata', '--deny-private-git', '--h2c']
/** The values that a switch may have. */
export const SWITCH_VALUES: Readonly<Record<string, boolean>> = {
  on: true,
  true: true,
  yes: true,
  '1': true,
  off: false,
  false: false,
  no: false,
  '0': false,
}

/** Parses the flags of `serve`, or of another command that has them too. Throws what `parseWords` throws. */
export function parseFlags(argv: string[], command = 'serve'): Partial<Record<FlagName, string>> {
  const args = argv.map((word, index) => {
    const isBare = SWITCHES.includes(word) && !Object.hasOwn(SWITCH_VALUES, argv[index + 1] ?? '')
    return isBare ? `${word}=on` : word
  })
  return parseWords(command, args, { texts: Object.keys(FLAGS), switches: [] }).texts
}

interface Words {
  texts: Record<string, string>
  switches: Set<string>
}

/**
 * Parses the words after a command: flags with a text, and switches, which are on when present. Throws `invalid_request`
 * that refers to the command's own help, for any other word and for a missing text.
 */
export function parseWords(
  command: string,
  args: string[],
  { texts, switches }: { texts: string[]; switches: string[] },
): Words {
  const typed = (names: string[], type: 'string' | 'boolean') =>
    names.map((name) => [name, { type }] as const)
  const options = Object.fromEntries([...typed(texts, 'string'), ...typed(switches, 'boolean')])
  try {
    const given = Object.entries(parseArgs({ args, options, strict: true }).values)
    return {
      texts: Object.fromEntries(
        given.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
      ),
      switches: new Set(given.filter(([, value]) => value === true).map(([name]) => name)),
    }
  } catch (cause) {
    const [fault] = messageOf(cause).split(/\.\s/)
    throw new AppError('invalid_request', `${fault}. See deployer help ${command}.`, { cause })
  }
}

/** The error for an invalid value, which it repeats. */
export function bad(name: FlagName, wanted: string, value: string): AppError {
  return new AppError('invalid_request', `${title(name)} must be ${wanted}, not "${value}"`)
}

/** A flag and its variable, for messages. */
export function title(name: FlagName): string {
  return `--${name} (${FLAGS[name].variable})`
}

/** Warnings for a secret on the command line, one sentence each. */
export function exposedSecrets(argv: string[]): string[] {
  const flags = parseFlags(argv)
  return SECRETS.filter((name) => flags[name] !== undefined).map(
    (name) =>
      `every user of this host can read --${name} in the list of processes: use --${name}-file (${FLAGS[`${name}-file`].variable}) instead, and a new secret`,
  )
}

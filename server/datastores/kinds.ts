/** What the server runs in addition to services. */
export const DATASTORE_KINDS = ['relational', 'keyvalue'] as const
export type DatastoreKind = (typeof DATASTORE_KINDS)[number]

/** What is the same for all datastores of a kind. */
interface KindFacts {
  /** Its name in messages. */
  label: string
  /** The port on which its program listens inside its container. */
  port: number
  /** The port for TLS there: the same one if the protocol upgrades a plain connection to TLS. */
  tlsPort: number
  /** The first major version that supports TLS. */
  tlsSince: number
  /** Whether the names of its database and its user can be chosen. */
  hasDatabases: boolean
  /** The URL that client libraries accept. */
  url(at: Place): string
  /** The command line for a terminal on the host; `url` contains no quotes. */
  connectCommand(url: string): string
  /** The extension of a backup's file name. */
  backupExtension: string
}

/** Where a datastore is reached, and the credentials. */
export interface Place {
  host: string
  port: number
  username: string
  password: string
  database: string | null
}

export const KINDS: Record<DatastoreKind, KindFacts> = {
  relational: {
    label: 'relational datastore',
    port: 5432,
    tlsPort: 5432,
    tlsSince: 0,
    hasDatabases: true,
    url: (at) => `postgresql://${authority(at)}/${encodeURIComponent(at.database ?? '')}`,
    connectCommand: (url) => `psql '${url}'`,
    backupExtension: 'dump',
  },
  keyvalue: {
    label: 'key-value datastore',
    port: 6379,
    tlsPort: 6380,
    tlsSince: 6,
    hasDatabases: false,
    url: (at) => `redis://${authority(at)}`,
    connectCommand: (url) => `valkey-cli -u '${url}'`,
    backupExtension: 'rdb',
  },
}

function authority({ host, port, username, password }: Place): string {
  return `${encodeURIComponent(username)}:${encodeURIComponent(password)}@${host}:${port}`
}

/** The major version that a tag begins with; null for a tag without one, such as `latest`. */
export function majorOf(version: string): number | null {
  const digits = /^(\d{1,6})(?:[.-]|$)/.exec(version)?.[1]
  return digits === undefined ? null : Number(digits)
}

/** Whether the program of a datastore supports TLS at all. */
export function supportsTls({ kind, version }: { kind: DatastoreKind; version: string }): boolean {
  return (majorOf(version) ?? Infinity) >= KINDS[kind].tlsSince
}

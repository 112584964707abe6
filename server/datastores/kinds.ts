/** What the server runs besides services. */
export const DATASTORE_KINDS = ['relational', 'keyvalue'] as const
export type DatastoreKind = (typeof DATASTORE_KINDS)[number]

/** What is known of a kind before one is made. */
interface KindFacts {
  /** As a message says it. */
  label: string
  /** Where its program listens inside its container. */
  port: number
  /** Where it speaks TLS there: the same port where the protocol lets both begin alike. */
  tlsPort: number
  /** The first major version that speaks it. */
  tlsSince: number
  /** Whether it has databases and users of its own choosing. */
  hasDatabases: boolean
  /** The address that a client library takes. */
  url(at: Place): string
  /** The line for a terminal on the host; `url` is one that holds no quote. */
  connectCommand(url: string): string
  /** How the name of a backup's file ends. */
  backupExtension: string
}

/** How a datastore is reached, and as whom. */
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

/** The major version that a tag begins with; null for one that does not say it, such as `latest`. */
export function majorOf(version: string): number | null {
  const digits = /^(\d{1,6})(?:[.-]|$)/.exec(version)?.[1]
  return digits === undefined ? null : Number(digits)
}

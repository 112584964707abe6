import type { DatastoreKind, Place } from '#server/datastores/kinds.ts'

/** How what a kind holds is written to a stream, with the programs of its own image. */
interface DumpPrograms {
  /** Prints everything. */
  dump: (place: Place) => string[]
  /** What they connect with: a password is never among the arguments, which every user of the host sees. */
  env: (place: Place) => Record<string, string>
  /** How a dump begins. */
  magic: RegExp
}

/**
 * How PostgreSQL's programs connect, beyond their environment. A database whose container is killed cannot say so: what
 * it still had to send is lost with its network, and without these a program waits for it for two hours.
 */
export function postgresConnection(database: string): string[] {
  const keepAlive = 'keepalives_idle=10 keepalives_interval=5 keepalives_count=3'
  return ['--no-password', `--dbname=dbname=${database} ${keepAlive}`]
}

export const DUMP_PROGRAMS: Record<DatastoreKind, DumpPrograms> = {
  relational: {
    dump: ({ database }) => ['pg_dump', '--format=custom', ...postgresConnection(database!)],
    env: ({ host, port, username, password }) => ({
      PGHOST: host,
      PGPORT: String(port),
      PGUSER: username,
      PGPASSWORD: password,
    }),
    magic: /^PGDMP/,
  },
  keyvalue: {
    // Valkey's image has its programs under Redis's names too.
    dump: ({ host, port }) => ['redis-cli', '-h', host, '-p', String(port), '--rdb', '-'],
    env: ({ password }) => ({ REDISCLI_AUTH: password }),
    magic: /^(REDIS|VALKEY)\d{3}/,
  },
}

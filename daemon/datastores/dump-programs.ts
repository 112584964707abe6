import type { DatastoreKind, Place } from '#server/datastores/kinds.ts'

/** How the data of a kind is dumped to a stream, with the programs of its own image. */
interface DumpPrograms {
  /** The command that prints everything. */
  dump: (place: Place) => string[]
  /** What they connect with: a password is never an argument, because every user of the host can see those. */
  env: (place: Place) => Record<string, string>
  /** How a dump begins. */
  magic: RegExp
}

/**
 * Returns the arguments with which PostgreSQL's programs connect. A database whose container is killed cannot close its
 * connections, because its network is gone; without these keepalives a program would wait two hours for it.
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

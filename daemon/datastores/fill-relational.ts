import { Readable } from 'node:stream'
import type { Place } from '#server/datastores/kinds.ts'
import { getDatastore, type DatastoreRow } from '#server/datastores/store.ts'
import { internalPlace } from '#server/datastores/view.ts'
import { logger } from '#server/log.ts'
import type { Attachment, Engine } from '../engine/index.ts'
import type { World } from '../world.ts'
import { placeInNetwork } from './backup.ts'
import { DUMP_PROGRAMS, postgresConnection } from './dump-programs.ts'
import { createRole, hasForeignLargeObjects, rolesWithout, rolesOf, rolesOfScript } from './dump-roles.ts'
import { DATABASE_ONLY, settingsOf } from './dump-settings.ts'
import { drain, feed, type Filling } from './feed.ts'
import { probePlace } from './probe.ts'
import { runInside } from './tool.ts'

const log = logger('datastores')

/** Makes psql print errors but not notices. */
const ERRORS_ONLY = 'SET client_min_messages = error;\n'

/** Runs a program in the container of the database that is being filled. */
type Run = (entrypoint: string[], use: (streams: Attachment) => Promise<void>) => Promise<void>

/** Loads a backup into the new database of a container; `outside` is where the host reaches it. */
export async function loadRelational(
  world: World,
  row: DatastoreRow,
  { volume, backupId, carriesRoles }: Filling,
  outside: Place,
  signal: AbortSignal,
): Promise<void> {
  const engine = world.engineOf(row.node_id)
  const inside = { ...internalPlace(row), host: '127.0.0.1' }
  const env = DUMP_PROGRAMS[row.kind].env(inside)
  const connection = postgresConnection(inside.database!)
  const run: Run = (entrypoint, use) => runInside(engine, volume, { env, entrypoint }, use, signal)
  const psql = ['psql', ...connection, '--no-psqlrc', '--quiet']
  const query = (...statements: string[]) =>
    run([...psql, ...statements.map((statement) => `--command=${statement}`)], drain)
  if (carriesRoles) {
    const present = placeInNetwork(getDatastore(row.id)!)
    await runStatements(row, run, psql, 'roles', [await readRoles(engine, volume, present, signal)])
  }
  const settings = await readDump(run, backupId, [...DATABASE_ONLY, '--file=-'], settingsOf)
  const roles = new Set(settings.flatMap((statement) => rolesOf(statement.split('\n', 1)[0]!)))
  for (const role of await rolesOfDump(run, backupId, inside.username)) roles.add(role)
  roles.delete(inside.username)
  // A role that cannot be created is not an error yet: if it is needed, the restore reports it. psql exits as its last
  // command does.
  if (roles.size > 0) await query(...[...roles].map(createRole), 'SELECT 1')
  await run(['pg_restore', '--exit-on-error', ...connection], (streams) => feed(streams, backupId))
  // Without it the first queries after a restore have bad plans (manual, "Backup and Restore").
  await query('ANALYZE')
  // Last, or they would apply while the rest is loaded.
  if (settings.length === 0) return
  await runStatements(row, run, psql, 'settings', settings)
  if (!settings.some((statement) => statement.includes('preload_libraries'))) return
  await probePlace(row.kind, outside).catch(async (error: unknown) => {
    if (isDatabaseError(error)) await resetLibraries(row, run, inside, error.message)
  })
}

/** Runs pg_restore on a backup. Returns what `take` makes of its output. */
async function readDump<T>(
  run: Run,
  backupId: string,
  options: string[],
  take: (output: AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  let taken: Promise<T> | null = null
  await run(['pg_restore', ...options], (streams) =>
    feed(streams, backupId, async () => {
      taken = take(streams.output())
      await taken
    }),
  )
  return await taken!
}

/** Returns the roles that the contents of a backup need. */
async function rolesOfDump(run: Run, backupId: string, owner: string): Promise<string[]> {
  const isForeign = await readDump(run, backupId, ['--list'], (list) => hasForeignLargeObjects(list, owner))
  const ofSchema = await readDump(run, backupId, ['--schema-only', '--file=-'], (script) =>
    rolesOfScript(script, false),
  )
  if (!isForeign) return ofSchema
  // Large objects and their owners are data to pg_restore: only the whole dump names them.
  const ofAll = await readDump(run, backupId, ['--file=-'], (script) => rolesOfScript(script, true))
  return [...ofSchema, ...ofAll]
}

/** Returns the statements that create the roles of another database but not its owner, with passwords. */
async function readRoles(
  engine: Engine,
  container: string,
  place: Place,
  signal: AbortSignal,
): Promise<string> {
  const { database, username } = place
  const env = DUMP_PROGRAMS.relational.env(place)
  const entrypoint = [
    'pg_dumpall',
    '--roles-only',
    `--database=${database}`,
    ...postgresConnection(database!),
  ]
  let statements = ''
  await runInside(
    engine,
    container,
    { env, entrypoint },
    async (streams) => {
      statements = await rolesWithout(username, streams.output())
    },
    signal,
  )
  return statements
}

/** Runs statements in a database. Those that a newer version rejects are logged and do not fail the restore. */
async function runStatements(
  { id }: DatastoreRow,
  run: Run,
  psql: string[],
  what: 'roles' | 'settings',
  statements: readonly string[],
): Promise<void> {
  await run([...psql, '--set=VERBOSITY=terse', '--file=-'], async (streams) => {
    // Not as arguments, which every user of the host can see: a statement may contain a secret.
    const input = Readable.from([Buffer.from([ERRORS_ONLY, ...statements].join(''))]) as AsyncIterable<Buffer>
    await Promise.all([streams.input(input), drain(streams)])
    if (streams.errors === '') return
    log.warn(`a database did not accept all of its former ${what}`, {
      datastore: id,
      error: streams.errors,
    })
  })
}

/** Whether PostgreSQL sent an error: those have a severity (manual, "Error and Notice Message Fields"), others do not. */
function isDatabaseError(error: unknown): error is Error {
  return error instanceof Error && 'severity' in error
}

/**
 * Resets the libraries that a database and its owner load at sign-in: if the image lacks one, nobody can sign in.
 */
async function resetLibraries(
  { id }: DatastoreRow,
  run: Run,
  { database, username }: Place,
  reason: string,
): Promise<void> {
  const [named, owner] = [database!, username].map((name) => `"${name.replaceAll('"', '""')}"`)
  const resets = ['session_preload_libraries', 'local_preload_libraries'].flatMap((setting) => [
    `--command=ALTER DATABASE ${named} RESET ${setting}`,
    `--command=ALTER ROLE ${owner} IN DATABASE ${named} RESET ${setting}`,
  ])
  // Via template1, which every server has, because nobody can sign in to this database.
  await run(['psql', ...postgresConnection('template1'), '--no-psqlrc', '--quiet', ...resets], drain)
  log.warn('the libraries that a database loads at sign-in were reset: with them nobody could sign in', {
    datastore: id,
    error: reason,
  })
}

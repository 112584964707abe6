import { Readable } from 'node:stream'
import type { Place } from '#server/datastores/kinds.ts'
import { getDatastore, type DatastoreRow } from '#server/datastores/store.ts'
import { internalPlace } from '#server/datastores/view.ts'
import { logger } from '#server/log.ts'
import type { Attachment } from '../engine/index.ts'
import type { World } from '../world.ts'
import { placeInNetwork } from './backup.ts'
import { DUMP_PROGRAMS, postgresConnection } from './dump-programs.ts'
import { createRole, hasForeignLargeObjects, rolesBesides, rolesOf, rolesOfScript } from './dump-roles.ts'
import { DATABASE_ALONE, settingsOf } from './dump-settings.ts'
import { drain, feed, type Filling } from './feed.ts'
import { probePlace } from './probe.ts'
import { runInside } from './tool.ts'

const log = logger('datastores')

/** For psql, which otherwise prints notices too. */
const ERRORS_ALONE = 'SET client_min_messages = error;\n'

/** Runs a program in the container of the database that is filled. */
type Run = (entrypoint: string[], use: (streams: Attachment) => Promise<void>) => Promise<void>

/** Loads a backup into the fresh database of a container, which is reached from the host at `outside`. */
export async function loadRelational(
  world: World,
  row: DatastoreRow,
  { volume, backupId, carriesRoles }: Filling,
  outside: Place,
  signal: AbortSignal,
): Promise<void> {
  const inside = { ...internalPlace(row), host: '127.0.0.1' }
  const env = DUMP_PROGRAMS[row.kind].env(inside)
  const connection = postgresConnection(inside.database!)
  const run: Run = (entrypoint, use) => runInside(world, volume, { env, entrypoint }, use, signal)
  const psql = ['psql', ...connection, '--no-psqlrc', '--quiet']
  const query = (...statements: string[]) =>
    run([...psql, ...statements.map((statement) => `--command=${statement}`)], drain)
  if (carriesRoles) {
    const present = placeInNetwork(getDatastore(row.id)!)
    await giveStatements(row, run, psql, 'roles', [await readRoles(world, volume, present, signal)])
  }
  const settings = await readDump(run, backupId, [...DATABASE_ALONE, '--file=-'], settingsOf)
  const roles = new Set(settings.flatMap((statement) => rolesOf(statement.split('\n', 1)[0]!)))
  for (const role of await rolesOfDump(run, backupId, inside.username)) roles.add(role)
  roles.delete(inside.username)
  // A role that cannot be created is not an error yet: if it is needed, the restore reports it. psql exits as its last command does.
  if (roles.size > 0) await query(...[...roles].map(createRole), 'SELECT 1')
  await run(['pg_restore', '--exit-on-error', ...connection], (streams) => feed(streams, backupId))
  // Without it the first queries after a restore are planned blindly (manual, "Backup and Restore").
  await query('ANALYZE')
  // Last, or they would hold for what loads the rest.
  if (settings.length === 0) return
  await giveStatements(row, run, psql, 'settings', settings)
  if (!settings.some((statement) => statement.includes('preload_libraries'))) return
  await probePlace(row.kind, outside).catch(async (error: unknown) => {
    if (isSaidByDatabase(error)) await takeBackLibraries(row, run, inside, error.message)
  })
}

/** Has pg_restore read a backup; answers what `take` makes of what it prints. */
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

/** The roles that what is in the database of a backup needs. */
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

/** The statements that create the roles of another program besides its owner, with their passwords, as this version writes them. */
async function readRoles(
  world: World,
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
    world,
    container,
    { env, entrypoint },
    async (streams) => {
      statements = await rolesBesides(username, streams.output())
    },
    signal,
  )
  return statements
}

/** Has a database run statements. What a newer version does not take any more is logged, and does not keep the data back. */
async function giveStatements(
  { id }: DatastoreRow,
  run: Run,
  psql: string[],
  what: 'roles' | 'settings',
  statements: readonly string[],
): Promise<void> {
  await run([...psql, '--set=VERBOSITY=terse', '--file=-'], async (streams) => {
    // Not as arguments, which every user of the host sees: one may hold a secret.
    const input = Readable.from([
      Buffer.from([ERRORS_ALONE, ...statements].join('')),
    ]) as AsyncIterable<Buffer>
    await Promise.all([streams.input(input), drain(streams)])
    if (streams.errors === '') return
    log.warn(`a database could not be given all of its ${what} again`, {
      datastore: id,
      error: streams.errors,
    })
  })
}

/** PostgreSQL's own errors have a severity (manual, "Error and Notice Message Fields"); one of a connection has none. */
function isSaidByDatabase(error: unknown): error is Error {
  return error instanceof Error && 'severity' in error
}

/**
 * Has a database, and its owner in it, load nothing at sign-in: a library that the image lacks keeps everybody out of it.
 */
async function takeBackLibraries(
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
  // From template1, which every server has: nobody can sign in to this database.
  await run(['psql', ...postgresConnection('template1'), '--no-psqlrc', '--quiet', ...resets], drain)
  log.warn('a database is not told again what to load: nobody could sign in', {
    datastore: id,
    error: reason,
  })
}

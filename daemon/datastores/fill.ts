import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { backupPath } from '#server/backups/files.ts'
import type { DatastoreKind, Place } from '#server/datastores/kinds.ts'
import type { DatastoreRow } from '#server/datastores/store.ts'
import { internalPlace } from '#server/datastores/view.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import type { Attachment } from '../engine/index.ts'
import type { World } from '../world.ts'
import { datastoreFiles, fillingContainer, KEYVALUE_VOLUME } from './container.ts'
import { DUMP_PROGRAMS, postgresConnection } from './dump-programs.ts'
import { createRole, hasForeignLargeObjects, rolesOf, rolesOfScript } from './dump-roles.ts'
import { DATABASE_ALONE, settingsOf } from './dump-settings.ts'
import { reasonOfEnd } from './exits.ts'
import { beginAppendOnly, probePlace } from './probe.ts'
import { CHECKPOINT_SECONDS, endProgram } from './stop.ts'
import { inNetwork, runInside, runTool } from './tool.ts'

const log = logger('datastores')

/** A large snapshot is read before the first answer. */
const ANSWER_WITHIN_MS = 3_600_000
const ANSWER_PERIOD_MS = 100

/** A volume to be filled, and with what. */
export interface Filling {
  volume: string
  imageId: string
  backupId: string
}

type Fill = (world: World, row: DatastoreRow, filling: Filling, signal: AbortSignal) => Promise<void>

/** For psql, which else tells of what is no fault as well. */
const ERRORS_ALONE = 'SET client_min_messages = error;\n'

/** Runs a program beside the one on the volume, in its container. */
type Run = (entrypoint: string[], use: (streams: Attachment) => Promise<void>) => Promise<void>

const FILL: Record<DatastoreKind, Fill> = { relational: fillRelational, keyvalue: fillKeyvalue }

/**
 * Fills a volume with what a backup holds, with a program of the image that is to serve it, which proves by its answers
 * that it can; then it is stopped. Throws the reason when the volume is not to be used.
 */
export async function fillVolume(
  world: World,
  row: DatastoreRow,
  filling: Filling,
  signal: AbortSignal,
): Promise<void> {
  await world.engine.volumes.create(filling.volume, { 'deployer.datastore': row.id })
  await FILL[row.kind](world, row, filling, signal)
}

async function fillRelational(
  world: World,
  row: DatastoreRow,
  filling: Filling,
  signal: AbortSignal,
): Promise<void> {
  const { volume, backupId } = filling
  await withProgram(world, row, filling, signal, async (outside) => {
    const inside = { ...internalPlace(row), host: '127.0.0.1' }
    const env = DUMP_PROGRAMS[row.kind].env(inside)
    const connection = postgresConnection(inside.database!)
    const run: Run = (entrypoint, use) => runInside(world, volume, { env, entrypoint }, use, signal)
    const psql = ['psql', ...connection, '--no-psqlrc', '--quiet']
    const query = (...statements: string[]) =>
      run([...psql, ...statements.map((statement) => `--command=${statement}`)], drain)
    const settings = await readDump(run, backupId, [...DATABASE_ALONE, '--file=-'], settingsOf)
    const roles = new Set(settings.flatMap((statement) => rolesOf(statement.split('\n', 1)[0]!)))
    for (const role of await rolesOfDump(run, backupId, inside.username)) roles.add(role)
    roles.delete(inside.username)
    // One that cannot be made is no fault of its own: where it is needed, the restore says so. psql ends as its last command.
    if (roles.size > 0) await query(...[...roles].map(createRole), 'SELECT 1')
    await run(['pg_restore', '--exit-on-error', ...connection], (streams) => feed(streams, backupId))
    // Without it the first queries after a restore are planned blindly (manual, "Backup and Restore").
    await query('ANALYZE')
    // Last, or they would hold for what loads the rest.
    if (settings.length === 0) return
    await giveSettings(row, run, psql, settings)
    if (!settings.some((statement) => statement.includes('preload_libraries'))) return
    await probePlace(row.kind, outside).catch(async (error: unknown) => {
      if (isSaidByDatabase(error)) await takeBackLibraries(row, run, inside, error.message)
    })
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
  // Large objects are data to pg_restore, their owners too: of those only the whole of a dump tells.
  const ofAll = await readDump(run, backupId, ['--file=-'], (script) => rolesOfScript(script, true))
  return [...ofSchema, ...ofAll]
}

/** Gives a database its own settings. What a newer version knows no more is told, and does not keep the data back. */
async function giveSettings(
  { id }: DatastoreRow,
  run: Run,
  psql: string[],
  settings: readonly string[],
): Promise<void> {
  await run([...psql, '--set=VERBOSITY=terse', '--file=-'], async (streams) => {
    // Not as arguments, which every user of the host sees: a setting may be a secret.
    const input = Readable.from([Buffer.from([ERRORS_ALONE, ...settings].join(''))]) as AsyncIterable<Buffer>
    await Promise.all([streams.input(input), drain(streams)])
    if (streams.errors === '') return
    log.warn('a database could not be given all of its settings again', {
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
  // From the one that every server has, and that is no datastore's own: into this one nobody comes.
  await run(['psql', ...postgresConnection('template1'), '--no-psqlrc', '--quiet', ...resets], drain)
  log.warn('a database is not told again what to load: nobody could sign in', {
    datastore: id,
    error: reason,
  })
}

async function fillKeyvalue(
  world: World,
  row: DatastoreRow,
  filling: Filling,
  signal: AbortSignal,
): Promise<void> {
  const { volume, imageId, backupId } = filling
  const copy = ['dd', `of=${KEYVALUE_VOLUME}/dump.rdb`, 'bs=1M', 'status=none']
  const mount = { name: volume, path: KEYVALUE_VOLUME }
  const tool = { name: `${volume}-load`, imageId, env: {}, entrypoint: copy, volume: mount }
  await runTool(world, row, tool, (streams) => feed(streams, backupId), signal)
  await withProgram(world, row, filling, signal, (outside) => beginAppendOnly(outside, signal))
}

/** Runs the program on the volume while `work` uses it, from the host and in its container. */
async function withProgram(
  world: World,
  row: DatastoreRow,
  { volume, imageId }: Filling,
  signal: AbortSignal,
  work: (outside: Place) => Promise<void>,
): Promise<void> {
  const { containers } = world.engine
  await inNetwork(world, row, volume, async (place) => {
    await containers.create({ ...fillingContainer(row, volume, imageId), ...place })
    const files = datastoreFiles(row, 'filling')
    if (files) await containers.putArchive(volume, files.folder, files.tar)
    await containers.start(volume)
    const port = (await containers.inspect(volume))?.publishedPort ?? 0
    const outside = { ...internalPlace(row), host: '127.0.0.1', port }
    await untilAnswer(world, row.kind, volume, outside, signal)
    await work(outside)
    await probePlace(row.kind, outside)
    await endProgram(world.engine, row, volume, CHECKPOINT_SECONDS)
  })
}

async function untilAnswer(
  world: World,
  kind: DatastoreKind,
  name: string,
  place: Place,
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + ANSWER_WITHIN_MS
  for (;;) {
    signal.throwIfAborted()
    try {
      return await probePlace(kind, place)
    } catch (error) {
      const found = await world.engine.containers.inspect(name)
      if (!found) throw new AppError('runtime_error', `its container ${name} was removed from outside`)
      if (!found.running) throw new AppError('runtime_error', await reasonOfEnd(world.engine, found))
      if (performance.now() > deadline)
        throw new AppError('runtime_error', `it did not answer within an hour: ${messageOf(error)}`)
    }
    await delay(ANSWER_PERIOD_MS, undefined, { signal })
  }
}

/** Gives a program a backup to read, while `take` takes what it prints. */
async function feed(
  streams: Attachment,
  backupId: string,
  take: () => Promise<void> = () => drain(streams),
): Promise<void> {
  const file = createReadStream(backupPath(backupId))
  await Promise.all([streams.input(file), take()]).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new AppError('runtime_error', 'the backup was deleted', { cause: error })
  })
}

/** What a program prints besides is of no interest, but it must get rid of it. */
async function drain(streams: Attachment): Promise<void> {
  for await (const _ of streams.output());
}

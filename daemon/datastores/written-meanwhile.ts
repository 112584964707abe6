import type { DatastoreRow } from '#server/datastores/store.ts'
import { AppError } from '#server/errors.ts'
import type { World } from '../world.ts'
import { RELATIONAL_DATA, RELATIONAL_VOLUME } from './container.ts'
import { imageOf } from './image.ts'
import { runTool } from './tool.ts'

/** The report has at most a page of text, in any version. */
const MAX_REPORT_CHARACTERS = 64 * 1024
const EPOCH_BITS = 32n

/**
 * Throws if a stopped relational datastore had transactions from number `since` on that may have written: despite the
 * read-only default, a client can ask for a READ WRITE transaction. NOTIFY uses a number too.
 */
export async function assertUnwritten(
  world: World,
  row: DatastoreRow,
  { since, name }: { since: bigint; name: string },
  signal: AbortSignal,
): Promise<void> {
  if ((await nextTransactionOf(world, row, name, signal)) <= since) return
  throw new AppError(
    'runtime_error',
    'data may have been written during the copy: a client opened a READ WRITE transaction or sent NOTIFY (the two cannot be told apart). Suspend the services that use it, then upgrade again',
  )
}

/** Returns the number that the next writing transaction would get, from the files of a cleanly stopped database. */
async function nextTransactionOf(
  world: World,
  row: DatastoreRow,
  name: string,
  signal: AbortSignal,
): Promise<bigint> {
  const tool = {
    name,
    imageId: await imageOf(world, row, signal),
    env: { LC_ALL: 'C' },
    entrypoint: ['pg_controldata', RELATIONAL_DATA],
    volumes: [{ name: row.volume, path: RELATIONAL_VOLUME }],
  }
  let report = ''
  await runTool(
    world,
    row,
    tool,
    async (streams) => {
      for await (const piece of streams.output())
        report = (report + piece.toString()).slice(0, MAX_REPORT_CHARACTERS)
    },
    signal,
  )
  const next = /^Latest checkpoint's NextXID: +(\d+)[:/](\d+)$/m.exec(report)
  if (!next || !/^Database cluster state: +shut down$/m.test(report))
    throw new AppError(
      'runtime_error',
      'its program did not shut down cleanly after it was copied: upgrade again when less is written to it',
    )
  return (BigInt(next[1]!) << EPOCH_BITS) | BigInt(next[2]!)
}

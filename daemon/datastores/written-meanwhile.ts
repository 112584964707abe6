import type { DatastoreRow } from '#server/datastores/store.ts'
import { AppError } from '#server/errors.ts'
import type { World } from '../world.ts'
import { RELATIONAL_DATA, RELATIONAL_VOLUME } from './container.ts'
import { imageOf } from './image.ts'
import { runTool } from './tool.ts'

/** A page of text at most, in any version. */
const MAX_REPORT_CHARACTERS = 64 * 1024
const EPOCH_BITS = 32n

/**
 * Throws when a relational datastore, which is stopped, had transactions that may have written from a number on: one that
 * takes no writes by default takes those of a client that asks for a READ WRITE transaction. NOTIFY takes a number too.
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
    'it may have been written to while it was copied: a client asks for READ WRITE transactions, or sends NOTIFY, which looks the same; suspend what uses it, and upgrade it then',
  )
}

/** The number that the next transaction that writes would get, as the files of a database say that was stopped in order. */
async function nextTransactionOf(
  world: World,
  row: DatastoreRow,
  name: string,
  signal: AbortSignal,
): Promise<bigint> {
  const tool = {
    name,
    imageId: await imageOf(world.engine, row, signal),
    env: { LC_ALL: 'C' },
    entrypoint: ['pg_controldata', RELATIONAL_DATA],
    volume: { name: row.volume, path: RELATIONAL_VOLUME },
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
      'its program did not end in order after it was copied: upgrade it again when less is written to it',
    )
  return (BigInt(next[1]!) << EPOCH_BITS) | BigInt(next[2]!)
}

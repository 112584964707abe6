import { setTimeout as delay } from 'node:timers/promises'
import type { DatastoreKind, Place } from '#server/datastores/kinds.ts'
import type { DatastoreRow } from '#server/datastores/store.ts'
import { internalPlace } from '#server/datastores/view.ts'
import { AppError, messageOf } from '#server/errors.ts'
import type { World } from '../world.ts'
import { fillingContainer, KEYVALUE_VOLUME, programConfig } from './container.ts'
import { reasonOfEnd } from './exits.ts'
import { feed, type Filling } from './feed.ts'
import { datastoreFiles } from './files.ts'
import { loadRelational } from './fill-relational.ts'
import { beginAppendOnly, probePlace } from './probe.ts'
import { CHECKPOINT_SECONDS, endProgram } from './stop.ts'
import { inNetwork, runTool } from './tool.ts'

/** A program answers only after it has read a large snapshot. */
const ANSWER_WITHIN_MS = 3_600_000
const ANSWER_PERIOD_MS = 100

type Fill = (world: World, row: DatastoreRow, filling: Filling, signal: AbortSignal) => Promise<void>

const FILL: Record<DatastoreKind, Fill> = { relational: fillRelational, keyvalue: fillKeyvalue }

/**
 * Fills a volume with the data of a backup by a program of the image that will serve it. The program must answer afterwards,
 * and is then stopped. Throws the reason if the volume must not be used.
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
  await withProgram(world, row, filling, signal, (outside) =>
    loadRelational(world, row, filling, outside, signal),
  )
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

/** Runs the program on the volume while `work` uses it from the host and in its container. */
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
    const files = datastoreFiles(programConfig(row, false, 'filling'), null)
    await containers.putArchive(volume, files.folder, files.tar)
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
      if (!found) throw new AppError('runtime_error', `its container ${name} was removed externally`)
      if (!found.running) throw new AppError('runtime_error', await reasonOfEnd(world.engine, found))
      if (performance.now() > deadline)
        throw new AppError('runtime_error', `it did not answer within an hour: ${messageOf(error)}`)
    }
    await delay(ANSWER_PERIOD_MS, undefined, { signal })
  }
}

import { setTimeout as delay } from 'node:timers/promises'
import { KINDS, type DatastoreKind, type Place } from '#server/datastores/kinds.ts'
import type { DatastoreRow } from '#server/datastores/store.ts'
import { internalPlace, LOOPBACK } from '#server/datastores/view.ts'
import { AppError, messageOf } from '#server/errors.ts'
import type { Engine } from '../engine/index.ts'
import type { World } from '../world.ts'
import { fillingContainer, KEYVALUE_VOLUME, programConfig, type Mode } from './container.ts'
import { reasonOfEnd } from './exits.ts'
import { feed, type Filling } from './feed.ts'
import { datastoreFiles } from './files.ts'
import { loadRelational } from './fill-relational.ts'
import { isElsewhere } from './home.ts'
import { beginAppendOnly, probePlace } from './probe.ts'
import { CHECKPOINT_SECONDS, endProgram } from './stop.ts'
import { inNetwork, runTool } from './tool.ts'

/** A program answers only after it has read a large snapshot. */
const ANSWER_WITHIN_MS = 3_600_000
/** While a copy is tried, nothing serves; the program ended cleanly. */
const COPY_ANSWERS_WITHIN_MS = 5 * 60_000
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
  await world.engineOf(row.node_id).volumes.create(filling.volume, { 'deployer.datastore': row.id })
  await FILL[row.kind](world, row, filling, signal)
}

/**
 * Starts the program on a volume that was copied to the node that `row` names, where no client reaches it yet, and stops it once
 * it has answered. Throws the reason if the volume must not be used.
 */
export async function tryVolume(
  world: World,
  row: DatastoreRow,
  copy: Pick<Filling, 'volume' | 'imageId'>,
  signal: AbortSignal,
): Promise<void> {
  const trial = { ...copy, mode: 'serving', withinMs: COPY_ANSWERS_WITHIN_MS } as const
  await withProgram(world, row, trial, signal, () => Promise.resolve())
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
  const tool = { name: `${volume}-load`, imageId, env: {}, entrypoint: copy, volumes: [mount] }
  await runTool(world, row, tool, (streams) => feed(streams, backupId), signal)
  await withProgram(world, row, filling, signal, (outside) => beginAppendOnly(outside, signal))
}

/** A program that runs on a volume before that is used, and how long it may take for its first answer. */
interface Trial extends Pick<Filling, 'volume' | 'imageId'> {
  mode?: Mode
  withinMs?: number
}

/** Runs the program on the volume while `work` uses it from the host and in its container. */
async function withProgram(
  world: World,
  row: DatastoreRow,
  { volume, imageId, mode = 'filling', withinMs = ANSWER_WITHIN_MS }: Trial,
  signal: AbortSignal,
  work: (outside: Place) => Promise<void>,
): Promise<void> {
  const engine = world.engineOf(row.node_id)
  const { containers } = engine
  await inNetwork(world, row, volume, async (place) => {
    const isFar = isElsewhere(row)
    await containers.create({
      ...fillingContainer(row, volume, imageId, mode),
      ...place,
      ...(isFar ? { ports: [] } : {}),
    })
    const files = datastoreFiles(programConfig(row, false, mode), null)
    await containers.putArchive(volume, files.folder, files.tar)
    await containers.start(volume)
    // The loopback of another node is not this host's, which reaches the container itself.
    const { host, port } = isFar
      ? { host: place.address, port: KINDS[row.kind].port }
      : { host: LOOPBACK, port: (await containers.inspect(volume))?.publishedPort ?? 0 }
    const outside = { ...internalPlace(row), host, port }
    await untilAnswer(engine, volume, () => probePlace(row.kind, outside), withinMs, signal)
    await work(outside)
    await probePlace(row.kind, outside)
    await endProgram(engine, row, volume, CHECKPOINT_SECONDS)
  })
}

async function untilAnswer(
  engine: Engine,
  name: string,
  probe: () => Promise<void>,
  withinMs: number,
  signal: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + withinMs
  for (;;) {
    signal.throwIfAborted()
    try {
      return await probe()
    } catch (error) {
      const found = await engine.containers.inspect(name)
      if (!found) throw new AppError('runtime_error', `its container ${name} was removed externally`)
      if (!found.running) throw new AppError('runtime_error', await reasonOfEnd(engine, found))
      if (performance.now() > deadline)
        throw new AppError(
          'runtime_error',
          `it did not answer within ${withinMs / 60_000} minutes: ${messageOf(error)}`,
        )
    }
    await delay(ANSWER_PERIOD_MS, undefined, { signal })
  }
}

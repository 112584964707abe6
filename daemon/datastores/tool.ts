import { setTimeout as delay } from 'node:timers/promises'
import type { DatastoreRow } from '#server/datastores/store.ts'
import { loadEnvironment } from '#server/environments/store.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { allotJobAddress, jobAddressHolders, releaseAddress } from '#server/instances/addresses.ts'
import { ledgerOn } from '#server/ledger.ts'
import { logger } from '#server/log.ts'
import { listNodes } from '#server/nodes/store.ts'
import {
  isEngineAway,
  KILLED,
  OOM_REPORTED_MS,
  type Attachment,
  type ContainerSpec,
  type Engine,
} from '../engine/index.ts'
import { addressFor } from '../environments/addresses.ts'
import { ensureNetworkOn, placeIn } from '../environments/networks.ts'
import { answerOf } from '../nodes/presence.ts'
import { runEach } from '../work/each.ts'
import type { World } from '../world.ts'
import { reasonOfEnd } from './exits.ts'

const log = logger('datastores')

/** Enough to hold one row of a table at a time; most rows are far smaller. */
export const TOOL_MEMORY_BYTES = 1024 ** 3
/** These programs have one thread. */
export const TOOL_CPUS = 1
/** A backup's container has its name; containers that fill a volume, load data into it or check it have the volume's. */
const WORK_NAME = /^(bak-[0-9a-f]{20}|dbs-[0-9a-f]{20}-[0-9a-f]{8}(-load|-look)?)$/
/** The labels of every container that exists for one piece of work on a datastore. */
const WORK_LABELS = { 'deployer.kind': 'datastore-work' }

/** Where a container for work on a datastore is, and what marks it. */
type Place = ReturnType<typeof placeIn> & Pick<ContainerSpec, 'labels'>

/** A program of a datastore's image that runs once, next to the datastore. */
export interface Tool extends Pick<ContainerSpec, 'name' | 'env' | 'volumes'> {
  imageId: string
  entrypoint: string[]
}

/**
 * Runs a program in a container of its own, in the network of the datastore's environment. `use` gets its streams and must
 * read the output to its end. The container is removed afterwards. Throws what `use` throws, `runtime_error` with the
 * program's error output if it fails, or the signal's reason.
 */
export async function runTool(
  world: World,
  row: DatastoreRow,
  { imageId, ...tool }: Tool,
  use: (streams: Attachment) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { containers, output } = world.engineOf(row.node_id)
  await inNetwork(world, row, tool.name, async (place) => {
    const limits = { memoryBytes: TOOL_MEMORY_BYTES, cpus: TOOL_CPUS }
    await containers.create({ ...tool, ...place, ...limits, image: imageId, streams: true })
    const streams = await output.streams(tool.name, signal)
    try {
      await containers.start(tool.name)
      // Waited for from the start: if the engine goes away, the streams end as if the program had ended.
      const end = containers.wait(tool.name, signal)
      const used = use(streams).catch(async (error: unknown) => {
        // Nobody reads its output any more, which would not end it.
        await containers.kill(tool.name)
        throw error
      })
      const [ended, work] = await Promise.allSettled([end, used])
      signal.throwIfAborted()
      // An engine that went away also breaks the streams, with less useful errors.
      if (ended.status === 'rejected' && isEngineAway(ended.reason)) throw ended.reason
      if (work.status === 'rejected') throw work.reason
      if (ended.status === 'rejected') throw ended.reason
      if (ended.value.exitCode !== 0) throw failureOf(tool.entrypoint[0]!, ended.value, streams.errors)
    } finally {
      streams.close()
    }
  })
}

/**
 * Runs another program in a running container, which takes a tenth of the time of a new one. `use` gets its streams and must
 * read the output to its end. Throws as `runTool` does, and why the container ended if it did.
 */
export async function runInside(
  engine: Engine,
  container: string,
  { env, entrypoint }: Pick<Tool, 'env' | 'entrypoint'>,
  use: (streams: Attachment) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const program = await engine.programs.start(container, { command: entrypoint, env }, signal)
  const { streams } = program
  try {
    const [work] = await Promise.allSettled([use(streams)])
    signal.throwIfAborted()
    // A program that ends before it has read all of its input may break the streams; its exit says why.
    if (work.status === 'rejected' && !isBrokenStream(work.reason)) throw work.reason
    const exitCode = await program.end()
    if (exitCode !== 0)
      throw await faultOf(engine, container, entrypoint[0]!, { exitCode, errors: streams.errors })
    if (work.status === 'rejected') throw work.reason
  } finally {
    streams.close()
  }
}

function isBrokenStream(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ECONNRESET' || code === 'EPIPE'
}

/** Returns why a program in a container failed: when the container ends, all of its programs do. */
async function faultOf(
  engine: Engine,
  container: string,
  program: string,
  { exitCode, errors }: { exitCode: number; errors: string },
): Promise<AppError> {
  // The engine reports the end of a container, and that it ran out of memory, a moment later.
  if (exitCode === KILLED) await delay(OOM_REPORTED_MS)
  const found = await engine.containers.inspect(container)
  if (!found) return new AppError('runtime_error', `its container ${container} was removed externally`)
  if (!found.running) return new AppError('runtime_error', await reasonOfEnd(engine, found))
  return failureOf(program, { exitCode, oomKilled: found.oomKilled }, errors)
}

function failureOf(
  program: string,
  { exitCode, oomKilled }: { exitCode: number; oomKilled: boolean },
  errors: string,
): AppError {
  const how = oomKilled ? 'ran out of memory' : `ended with exit code ${exitCode}`
  return new AppError('runtime_error', [`${program} ${how}`, errors].filter(Boolean).join(': '))
}

/**
 * Reserves an address for a container of this name while `work` runs, and removes the container afterwards. If the engine
 * cannot remove it now, `removeStrayWork` will.
 */
export async function inNetwork<T>(
  world: World,
  row: DatastoreRow,
  name: string,
  work: (place: Place) => Promise<T>,
): Promise<T> {
  const engine = world.engineOf(row.node_id)
  const network = await ensureNetworkOn(world, loadEnvironment(row.environment_id), row.node_id)
  const address = await addressFor(engine, allotJobAddress, row.environment_id, network, name)
  try {
    return await work({ ...placeIn(network, address), labels: WORK_LABELS })
  } finally {
    try {
      await engine.containers.remove(name)
      releaseAddress(name)
    } catch (error) {
      log.warn('a container cannot be removed yet; trying again later', { name, error: messageOf(error) })
    }
  }
}

/**
 * Removes the containers that a killed server left of work on datastores, except those that `isKept` names. An address is
 * always recorded before its container is created, so only names with an address can be left. It is kept as long as the
 * container may be on a node that does not answer. Only the nodes of containers are asked. Throws `runtime_error`.
 */
export async function removeStrayWork(world: World, isKept: (name: string) => boolean): Promise<void> {
  const strays = jobAddressHolders().filter((name) => WORK_NAME.test(name) && !isKept(name))
  const nodes = world.engines().map(({ nodeId, engine: { containers } }) => async () => {
    for (const name of strays) if (isOn(nodeId, name)) await answerOf(nodeId, containers.remove(name))
  })
  try {
    await runEach(nodes)
  } finally {
    for (const name of strays) if (!listNodes().some(({ id }) => isOn(id, name))) releaseAddress(name)
  }
}

/** Whether a container of this name may be on a node: it is recorded before it is created. */
function isOn(nodeId: string, name: string): boolean {
  return ledgerOn(nodeId).find('container', name) !== undefined
}

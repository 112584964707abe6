import { setTimeout as delay } from 'node:timers/promises'
import { AppError, messageOf } from '#server/errors.ts'
import { allotJobAddress, releaseAddress } from '#server/instances/addresses.ts'
import { logger } from '#server/log.ts'
import type { LogWriter } from '#server/logs/files.ts'
import { ownNodeId } from '#server/nodes/store.ts'
import { departuresOf, hasLeftSince, isOfAbsence } from '../engine-absence.ts'
import type { ContainerState, Engine } from '../engine/index.ts'
import { addressFor } from '../environments/addresses.ts'
import type { Launch } from '../instances/launch.ts'
import { putSecretFiles } from '../instances/secret-files.ts'
import { serviceContainer } from '../instances/service-container.ts'
import { isLost, nameOfNode } from '../nodes/presence.ts'
import type { AbortReason } from '../work/abort-reason.ts'
import type { World } from '../world.ts'
import { OutputCopy } from './output-copy.ts'

const serverLog = logger('jobs')

/** Interval between two requests to an engine that does not answer. */
const RETRY_MS = 1_000
/** Another node that does not answer for so long does not come back soon, and its run is not waited for: as for room. */
export const UNREACHED_MS = 5 * 60_000
/** An engine that did not answer for this long was away; otherwise only the connection to it broke. */
const AWAY_MS = 500

/** A command that runs once in a container of its own. */
export interface Run {
  /** The deploy or job whose log gets its output. */
  logId: string
  /** Where it runs. */
  nodeId: string
  /** Prepares what its container needs; called before the container is started. */
  launch: () => Promise<Launch>
  /** The container's name. An existing container is followed to its end, as after a restart of the server. */
  name: string
  kind: 'job' | 'pre-deploy'
  /** Replaces the image's own command; null keeps that. */
  command: string | null
  timeoutMs: number
  /**
   * Records how it ended. Its container is removed only afterwards, so that the result survives a kill of the server. If it
   * throws, for example on a full disk, the container stays, and the next try records the result without a second run.
   */
  recordEnd: (end: RunEnd) => Promise<void>
}

/** The result of a run could not be recorded. Its container is kept until the next try records it. */
export class NotRecorded extends Error {
  override readonly name = 'NotRecorded'
}

/** The node of a run does not answer any more, and what became of its program is unknown. */
export class NodeLost extends AppError {
  constructor(nodeId: string) {
    const what = isLost(nodeId) ? 'is lost' : `could not be reached for ${UNREACHED_MS / 60_000} minutes`
    super('runtime_error', `the node ${nameOfNode(nodeId)} on which it ran ${what}: run it again`)
  }
}

/** Appended to the message of how a run ended. */
export const ENDED_WITH_ENGINE = ' while the container engine was stopped or restarted'

/** How a run ended. */
export interface RunEnd {
  /** Null when it was killed because its time was up. */
  exitCode: number | null
  oomKilled: boolean
  timedOut: boolean
  /** Whether it ended while the engine was away: an engine without live restore stops containers when it stops. */
  engineWasAway: boolean
  /** The program's last lines of output. */
  lastLines: string[]
}

type ContainerEnd = Omit<RunEnd, 'lastLines'>

/**
 * Runs a command in a new container of a service's image, in its environment's network, with its variables and limits,
 * without its disk and its name. Its output goes into the log. The container is removed at the end, except in three cases:
 * when the server stops it keeps running, and the next start follows it; and if its end could not be recorded, or the engine
 * went away before it was started, the next try finds it. Throws `runtime_error` if the engine fails, the signal's reason
 * once the program was killed, or NotRecorded with what `recordEnd` throws.
 */
export async function runToEnd(world: World, run: Run, log: LogWriter, signal: AbortSignal): Promise<void> {
  const engine = world.engineOf(run.nodeId)
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), run.timeoutMs)
  const done = new AbortController()
  let isKept = false
  try {
    signal.throwIfAborted()
    const copy = new OutputCopy(engine, run.name, run.logId, log, AbortSignal.any([signal, done.signal]))
    await start(world, run, copy)
    const end = await untilEnd(world, run, AbortSignal.any([signal, late.signal])).catch(
      async (error: unknown) => {
        signal.throwIfAborted()
        if (!late.signal.aborted) throw error
        return await endNow(engine, run.name)
      },
    )
    await copy.finish()
    await run.recordEnd({ ...end, lastLines: copy.lastLines }).catch((cause: unknown) => {
      throw new NotRecorded(messageOf(cause), { cause })
    })
  } catch (error) {
    isKept = error instanceof NotRecorded || (!signal.aborted && (await isOfAbsence(engine, error)))
    throw error
  } finally {
    clearTimeout(timer)
    done.abort()
    const isStopping = signal.reason === ('stopping' satisfies AbortReason)
    if (!isKept && !isStopping) await removeRun(engine, run.name)
  }
}

/** Kills and removes the container of a run and releases its address. If the engine cannot do it now, the cleanup will. */
async function removeRun(engine: Engine, name: string): Promise<void> {
  try {
    await engine.containers.remove(name)
    releaseAddress(name)
  } catch (error) {
    serverLog.warn('a container cannot be removed yet; trying again later', { name, error: messageOf(error) })
  }
}

/** Creates the container and starts it, unless it was started before, and copies its output. */
async function start(world: World, run: Run, copy: OutputCopy): Promise<void> {
  const { name, kind, command } = run
  const engine = world.engineOf(run.nodeId)
  const { containers } = engine
  const found = await containers.inspect(name)
  if (found && found.status !== 'created') return copy.resume()
  const launch = await run.launch()
  if (!found) {
    const { environment_id } = launch.service
    const address = await addressFor(engine, allotJobAddress, environment_id, launch.network, name)
    await containers.create(serviceContainer(launch, { name, kind, address, command }))
  }
  await putSecretFiles(engine, name, launch)
  await copy.attach()
  await containers.start(name)
}

/** Waits for the program's end, even if the engine goes away and comes back. */
async function untilEnd(world: World, { name, nodeId }: Run, signal: AbortSignal): Promise<ContainerEnd> {
  for (let engineWasAway = false; ;) {
    const departures = departuresOf(world, nodeId)
    try {
      const end = await world.engineOf(nodeId).containers.wait(name, signal)
      // An engine that stops reports the ends of its containers before it is gone.
      engineWasAway ||= end.exitCode !== 0 && (await hasLeftSince(world, departures, signal, nodeId))
      return { ...end, engineWasAway, timedOut: false }
    } catch {
      const cutAt = performance.now()
      const found = await whenBack(world, name, nodeId, signal)
      if (found === null)
        throw new AppError('runtime_error', `its container ${name} was removed externally: run it again`)
      const wasAway = async () =>
        performance.now() - cutAt >= AWAY_MS || (await hasLeftSince(world, departures, signal, nodeId))
      engineWasAway ||= !found.running && (await wasAway())
      await delay(RETRY_MS, undefined, { signal })
    }
  }
}

/** Kills a program whose time is up. If it already ended by itself and that is found only now, it did not time out. */
async function endNow(engine: Engine, name: string): Promise<ContainerEnd> {
  const found = await engine.containers.inspect(name)
  if (found?.running === false) {
    const { exitCode, oomKilled } = found
    return { exitCode, oomKilled, engineWasAway: false, timedOut: false }
  }
  await engine.containers.kill(name)
  return { exitCode: null, oomKilled: false, engineWasAway: false, timedOut: true }
}

/** Inspects a container as soon as the engine answers again. Throws NodeLost if that is on another node and takes too long. */
async function whenBack(
  world: World,
  name: string,
  nodeId: string,
  signal: AbortSignal,
): Promise<ContainerState | null> {
  for (const began = performance.now(); ; await delay(RETRY_MS, undefined, { signal })) {
    signal.throwIfAborted()
    try {
      return await world.engineOf(nodeId).containers.inspect(name)
    } catch {
      if (nodeId !== ownNodeId() && performance.now() - began > UNREACHED_MS) throw new NodeLost(nodeId)
    }
  }
}

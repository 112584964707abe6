import { setTimeout as delay } from 'node:timers/promises'
import { AppError, messageOf } from '#server/errors.ts'
import { allotJobAddress, releaseAddress } from '#server/instances/addresses.ts'
import { logger } from '#server/log.ts'
import type { LogWriter } from '#server/logs/files.ts'
import { hasLeftSince } from '../engine-absence.ts'
import type { ContainerState } from '../engine/index.ts'
import { addressFor } from '../environments/addresses.ts'
import type { Launch } from '../instances/launch.ts'
import { serviceContainer } from '../instances/service-container.ts'
import type { AbortReason } from '../work/abort-reason.ts'
import type { World } from '../world.ts'
import { OutputCopy } from './output-copy.ts'

const serverLog = logger('jobs')

/** Interval between two requests to an engine that does not answer. */
const RETRY_MS = 1_000
/** An engine that did not answer for this long was away; otherwise only the connection to it broke. */
const AWAY_MS = 500

/** A command that runs once in a container of its own. */
export interface Run {
  /** The deploy or job whose log gets its output. */
  logId: string
  /** Prepares what its container needs; called when the container is created. */
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
 * without its disk and its name. Its output goes into the log. The container is removed at the end, except in two cases:
 * when the server stops it keeps running, and the next start follows it; and if its end could not be recorded, the next try
 * finds it. Throws `runtime_error` if the engine fails, the signal's reason once the program was killed, or NotRecorded
 * with what `recordEnd` throws.
 */
export async function runToEnd(world: World, run: Run, log: LogWriter, signal: AbortSignal): Promise<void> {
  const { engine } = world
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), run.timeoutMs)
  const done = new AbortController()
  let isRecorded = true
  try {
    signal.throwIfAborted()
    const copy = new OutputCopy(engine, run.name, run.logId, log, AbortSignal.any([signal, done.signal]))
    await start(world, run, copy)
    const end = await untilEnd(world, run.name, AbortSignal.any([signal, late.signal])).catch(
      async (error: unknown) => {
        signal.throwIfAborted()
        if (!late.signal.aborted) throw error
        return await endNow(world, run.name)
      },
    )
    await copy.finish()
    await run.recordEnd({ ...end, lastLines: copy.lastLines }).catch((cause: unknown) => {
      isRecorded = false
      throw new NotRecorded(messageOf(cause), { cause })
    })
  } finally {
    clearTimeout(timer)
    done.abort()
    const isStopping = signal.reason === ('stopping' satisfies AbortReason)
    if (isRecorded && !isStopping) await removeRun(world, run.name)
  }
}

/** Kills and removes the container of a run and releases its address. If the engine cannot do it now, the cleanup will. */
async function removeRun(world: World, name: string): Promise<void> {
  try {
    await world.engine.containers.remove(name)
    releaseAddress(name)
  } catch (error) {
    serverLog.warn('a container cannot be removed yet; trying again later', { name, error: messageOf(error) })
  }
}

/** Creates the container and starts it, unless it was started before, and copies its output. */
async function start(world: World, run: Run, copy: OutputCopy): Promise<void> {
  const { name, kind, command } = run
  const { containers } = world.engine
  const found = await containers.inspect(name)
  if (found && found.status !== 'created') return copy.resume()
  if (!found) {
    const launch = await run.launch()
    const { environment_id } = launch.service
    const address = await addressFor(world.engine, allotJobAddress, environment_id, launch.network, name)
    await containers.create(serviceContainer(launch, { name, kind, address, command }))
  }
  await copy.attach()
  await containers.start(name)
}

/** Waits for the program's end, even if the engine goes away and comes back. */
async function untilEnd(world: World, name: string, signal: AbortSignal): Promise<ContainerEnd> {
  for (let engineWasAway = false; ;) {
    const departures = world.engineDepartures
    try {
      const end = await world.engine.containers.wait(name, signal)
      // An engine that stops reports the ends of its containers before it is gone.
      engineWasAway ||= end.exitCode !== 0 && (await hasLeftSince(world, departures, signal))
      return { ...end, engineWasAway, timedOut: false }
    } catch {
      const cutAt = performance.now()
      const found = await whenBack(world, name, signal)
      if (found === null)
        throw new AppError('runtime_error', `its container ${name} was removed externally: run it again`)
      const wasAway = async () =>
        performance.now() - cutAt >= AWAY_MS || (await hasLeftSince(world, departures, signal))
      engineWasAway ||= !found.running && (await wasAway())
      await delay(RETRY_MS, undefined, { signal })
    }
  }
}

/** Kills a program whose time is up. If it already ended by itself and that is found only now, it did not time out. */
async function endNow({ engine }: World, name: string): Promise<ContainerEnd> {
  const found = await engine.containers.inspect(name)
  if (found?.running === false) {
    const { exitCode, oomKilled } = found
    return { exitCode, oomKilled, engineWasAway: false, timedOut: false }
  }
  await engine.containers.kill(name)
  return { exitCode: null, oomKilled: false, engineWasAway: false, timedOut: true }
}

/** Inspects a container as soon as the engine answers again. */
async function whenBack(world: World, name: string, signal: AbortSignal): Promise<ContainerState | null> {
  for (;;) {
    signal.throwIfAborted()
    try {
      return await world.engine.containers.inspect(name)
    } catch {
      await delay(RETRY_MS, undefined, { signal })
    }
  }
}

import { setTimeout as delay } from 'node:timers/promises'
import type { DeployRow, Snapshot } from '#server/deploys/store.ts'
import { allotJobAddress, releaseAddress } from '#server/instances/addresses.ts'
import { findEnvironment } from '#server/environments/store.ts'
import { readLog, type LogWriter } from '#server/log-files.ts'
import type { ServiceRow } from '#server/services/store.ts'
import { ensureNetwork } from '../environments/networks.ts'
import { serviceContainer } from '../instances/service-container.ts'
import { followContainer } from '../logs/follow.ts'
import type { World } from '../world.ts'

/** How long the last output of a program that ended may take to arrive. */
const LAST_OUTPUT_MS = 500
/** Lines of the program's own output that a failure shows. */
const SHOWN_LINES = 20

/** A command that runs once in a container of its own. */
export interface Run {
  service: ServiceRow
  deploy: DeployRow
  snapshot: Snapshot
  /** The container's name. One that is there already is followed to its end, as after a restart of the server. */
  name: string
  kind: 'job' | 'pre-deploy'
  /** Takes the place of the image's own command; null leaves it. */
  command: string | null
  timeoutMs: number
  /** The id of the log that its output goes into. */
  logId: string
}

/** How a run ended. */
export interface RunEnd {
  exitCode: number | null
  oomKilled: boolean
  timedOut: boolean
  /** The program's own last lines. */
  lastLines: string[]
}

/**
 * Runs a command in a new container of a service's image, in its environment's network, with its variables and limits,
 * without its disk and its name. Its output goes into the log. The container is removed in every case but one: when the
 * server stops, it goes on and is followed by the next start. Throws `runtime_error`, or the signal's reason once the
 * program was killed.
 */
export async function runToEnd(world: World, run: Run, log: LogWriter, signal: AbortSignal): Promise<RunEnd> {
  const { containers } = world.engine
  const timeout = AbortSignal.timeout(run.timeoutMs)
  const lastLines: string[] = []
  const ended = new AbortController()
  let isLeft = false
  try {
    const isNew = await start(world, run)
    // What is in the log already is not written a second time.
    const since = isNew ? undefined : await lastOutputTime(run.logId, signal)
    const copied = copyOutput(world, run.name, since, log, lastLines, ended.signal)
    const end = await containers
      .wait(run.name, AbortSignal.any([signal, timeout]))
      .catch((error: unknown) => {
        if (!timeout.aborted || signal.aborted) throw error
        return null
      })
    await Promise.race([copied, delay(LAST_OUTPUT_MS)])
    return {
      exitCode: end?.exitCode ?? null,
      oomKilled: end?.oomKilled ?? false,
      timedOut: end === null,
      lastLines,
    }
  } catch (error) {
    isLeft = signal.reason === 'stopping'
    throw error
  } finally {
    ended.abort()
    if (!isLeft) {
      await containers.remove(run.name)
      releaseAddress(run.name)
    }
  }
}

/** Starts the container unless it is there; answers whether it was not. */
async function start(world: World, run: Run): Promise<boolean> {
  const { service, deploy, snapshot, name, kind, command } = run
  const { containers } = world.engine
  const found = await containers.inspect(name)
  if (found && found.status !== 'created') return false
  if (!found) {
    const network = await ensureNetwork(world.engine, findEnvironment(service.environment_id))
    const address = allotJobAddress(service.environment_id, network.subnet, name)
    const role = { name, kind, address, command }
    await containers.create(await serviceContainer(world, service, deploy, snapshot, role))
  }
  await containers.start(name)
  return true
}

async function lastOutputTime(logId: string, signal: AbortSignal): Promise<string | undefined> {
  let last: string | undefined
  for await (const { ts, instance } of readLog(logId, () => false, signal)) {
    if (instance !== undefined) last = ts
  }
  return last
}

async function copyOutput(
  world: World,
  name: string,
  since: string | undefined,
  log: LogWriter,
  lastLines: string[],
  signal: AbortSignal,
): Promise<void> {
  for await (const { line } of followContainer(world.engine, name, since, signal)) {
    log.write(line)
    lastLines.push(line.line)
    if (lastLines.length > SHOWN_LINES) lastLines.shift()
  }
}

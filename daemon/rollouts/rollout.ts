import { setTimeout as delay } from 'node:timers/promises'
import { announceService } from '#server/changes.ts'
import { makeLive } from '#server/deploys/operations.ts'
import { getDeploy, type DeployRow } from '#server/deploys/store.ts'
import { instanceMachine } from '#server/instances/states.ts'
import { getInstance, instancesOf, updateInstance } from '#server/instances/store.ts'
import type { LogWriter } from '#server/logs/files.ts'
import { getService, type ServiceRow } from '#server/services/store.ts'
import { wantedInstances } from '#server/services/types.ts'
import { tryMove } from '#server/state-machine.ts'
import { bringUp } from '../instances/bring-up.ts'
import { addInstance, lossOf, removeInstance } from '../instances/containers.ts'
import { Ends, recordEnd } from '../instances/ends.ts'
import type { Launch } from '../instances/launch.ts'
import { endOf, NotReady } from '../instances/readiness.ts'
import { followContainer } from '../logs/follow.ts'
import type { AbortReason } from '../work/abort-reason.ts'
import { forEachLimited } from '../work/each.ts'
import type { World } from '../world.ts'

/** Containers created or removed in parallel; more would be too much for the host's disk. */
const PARALLEL = 4
/** Lines of the program's own output in the error of a failed deploy. */
const ERROR_LINES = 20
/** How long the last output of a failed program may take to arrive. */
const LAST_LINES_MS = 300

/**
 * Rolls a deploy out: starts its instances next to the old ones, waits until each is ready, then switches the routes at
 * once. The old instances are then `draining`, and the instance keeper removes them. Instances of an interrupted try are reused.
 * If it fails it throws; then the new instances are removed and the old ones were never stopped.
 */
export async function rollOut(
  world: World,
  deploy: DeployRow,
  launch: () => Promise<Launch>,
  log: LogWriter,
  signal: AbortSignal,
): Promise<void> {
  const following = new AbortController()
  const lastLines: string[] = []
  try {
    const service = getService(deploy.service_id)!
    const instances = await prepareInstances(world, service, deploy, launch)
    if (instances.length > 0)
      log.system(`starting ${instances.length} instance${instances.length === 1 ? '' : 's'}`)
    const failed = new AbortController()
    const going = AbortSignal.any([signal, failed.signal])
    const ends = new Ends()
    const up = async (id: string, onStart?: () => void) => {
      try {
        going.throwIfAborted()
        const say = (hint: string) => {
          log.system(`${id}: ${hint}`)
          updateInstance(id, { reason: hint })
          announceService(service.id)
        }
        await bringUp(world, launch, id, { ends, onStart, say }, going)
        log.system(`${id} is ready`)
        updateInstance(id, { reason: null })
      } catch (error) {
        // If one instance fails, the rollout fails.
        failed.abort()
        throw error
      }
    }
    await forEachLimited(instances, PARALLEL, (id) =>
      up(id, () => void copyOutput(world, id, log, lastLines, following.signal)),
    )
    // A single instance had no time to end since it came up.
    if (instances.length > 1) await untilAllAreUp(world, instances, launch, ends, log, up)
    signal.throwIfAborted()
    await world.dataPlane.switchOver(service.id, deploy.id, () => recordSwitch(deploy))
    log.system('live')
  } catch (error) {
    // The next start reuses the instances.
    if (signal.reason === ('stopping' satisfies AbortReason)) throw error
    if (error instanceof NotReady) await delay(LAST_LINES_MS)
    // The instance keeper removes later what cannot be removed now.
    await removeInstancesOf(world, deploy).catch(() => {})
    throw error instanceof NotReady
      ? new NotReady([error.message, ...withoutRepetition(lastLines)].join('\n'))
      : error
  } finally {
    following.abort()
  }
}

/** Removes the instances of a deploy that did not go live. */
export async function removeInstancesOf(world: World, deploy: DeployRow): Promise<void> {
  const instances = instancesOf(deploy.service_id).filter(({ deploy_id }) => deploy_id === deploy.id)
  await forEachLimited(instances, PARALLEL, (instance) => removeInstance(world, instance, 0))
}

async function prepareInstances(
  world: World,
  service: ServiceRow,
  deploy: DeployRow,
  launch: () => Promise<Launch>,
): Promise<string[]> {
  const kept = instancesOf(service.id).filter(({ deploy_id }) => deploy_id === deploy.id)
  const wanted = wantedInstances({ ...service, suspended: 0 })
  for (const extra of kept.splice(wanted)) await removeInstance(world, extra, 0)
  const ids = kept.map(({ id }) => id)
  while (ids.length < wanted) ids.push(addInstance(service, deploy.id, (await launch()).network))
  return ids
}

/** Restarts instances that ended while others were still starting. Throws NotReady if one ended too often. */
async function untilAllAreUp(
  world: World,
  instances: readonly string[],
  launch: () => Promise<Launch>,
  ends: Ends,
  log: LogWriter,
  up: (id: string) => Promise<void>,
): Promise<void> {
  for (;;) {
    const { network } = await launch()
    const ended: string[] = []
    await forEachLimited(instances, PARALLEL, async (id) => {
      const container = await world.engine.containers.inspect(id)
      const instance = getInstance(id)
      const how = instance ? endOf(container, (found) => lossOf(found, instance, network)) : null
      if (!instance || how === null) return
      recordEnd(instance, container?.exitCode ?? null, how)
      ends.count(id, how)
      log.system(`${id}: ${how}; restarting it`)
      ended.push(id)
    })
    if (ended.length === 0) return
    await forEachLimited(ended, PARALLEL, up)
  }
}

/** In one transaction, moves the new instances into rotation and the old ones out, and makes the deploy live. */
function recordSwitch(deploy: DeployRow): void {
  makeLive(getDeploy(deploy.id)!, () => {
    for (const { id, deploy_id } of instancesOf(deploy.service_id)) {
      if (deploy_id === deploy.id) tryMove(instanceMachine, id, 'ready', { reason: null })
      else tryMove(instanceMachine, id, 'draining', { left_rotation_at: Date.now() })
    }
  })
}

/** Removes repetitions of the whole output: a program that is started three times often prints the same each time. */
function withoutRepetition(lines: readonly string[]): readonly string[] {
  for (let length = 1; length < lines.length; length++)
    if (lines.every((line, index) => index < length || line === lines[index - length]))
      return lines.slice(-length)
  return lines
}

/** Copies the output of a new instance into the deploy's log until the deploy ends. */
async function copyOutput(
  world: World,
  id: string,
  log: LogWriter,
  lastLines: string[],
  signal: AbortSignal,
): Promise<void> {
  for await (const line of followContainer(world.engine, id, signal)) {
    log.write(line)
    lastLines.push(line.line)
    if (lastLines.length > ERROR_LINES) lastLines.shift()
  }
}

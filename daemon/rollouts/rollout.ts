import { setTimeout as delay } from 'node:timers/promises'
import { tellService } from '#server/changes.ts'
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

/** Containers created or removed at one time; the engine takes more, the host's disk does not. */
const PARALLEL = 4
/** Lines of the program's own output in the error of a failed deploy. */
const ERROR_LINES = 20
/** How long the last output of a failed program may take to arrive. */
const LAST_LINES_MS = 300

/**
 * Rolls a deploy out: starts its instances beside the old ones, waits until each is ready, switches the routes at once.
 * The old instances are then `draining`, which the instance keeper ends. Instances of an interrupted try are taken up again.
 * Throws when it cannot; then the new instances are gone and the old ones never stopped.
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
          tellService(service.id)
        }
        await bringUp(world, launch, id, { ends, onStart, say }, going)
        log.system(`${id} is ready`)
        updateInstance(id, { reason: null })
      } catch (error) {
        // One that fails decides for all.
        failed.abort()
        throw error
      }
    }
    await forEachLimited(instances, PARALLEL, (id) =>
      up(id, () => void copyOutput(world, id, log, lastLines, following.signal)),
    )
    // One that came up alone has had no time to end since.
    if (instances.length > 1) await untilAllAreUp(world, instances, launch, ends, log, up)
    signal.throwIfAborted()
    await world.dataPlane.switchOver(service.id, deploy.id, () => recordSwitch(deploy))
    log.system('live')
  } catch (error) {
    // The next start takes the instances up again.
    if (signal.reason === ('stopping' satisfies AbortReason)) throw error
    if (error instanceof NotReady) await delay(LAST_LINES_MS)
    // What cannot be removed now is found and removed by the instance keeper.
    await removeInstancesOf(world, deploy).catch(() => {})
    throw error instanceof NotReady ? new NotReady([error.message, ...saidOnce(lastLines)].join('\n')) : error
  } finally {
    following.abort()
  }
}

/** Removes what a deploy that did not go live had started. */
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

/** Brings up again what has ended since it was ready, while others came up. Throws NotReady after the last end of one. */
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
      log.system(`${id}: ${how}; it is started again`)
      ended.push(id)
    })
    if (ended.length === 0) return
    await forEachLimited(ended, PARALLEL, up)
  }
}

/** In one transaction the new instances enter rotation, the old ones leave it, and the deploy is live. */
function recordSwitch(deploy: DeployRow): void {
  makeLive(getDeploy(deploy.id)!, () => {
    for (const { id, deploy_id } of instancesOf(deploy.service_id)) {
      if (deploy_id === deploy.id) tryMove(instanceMachine, id, 'ready', { reason: null })
      else tryMove(instanceMachine, id, 'draining', { left_rotation_at: Date.now() })
    }
  })
}

/** The last of lines that come again and again as a whole: a program that is started three times prints the same as often. */
function saidOnce(lines: readonly string[]): readonly string[] {
  for (let length = 1; length < lines.length; length++)
    if (lines.every((line, index) => index < length || line === lines[index - length]))
      return lines.slice(-length)
  return lines
}

/** Copies what a new instance prints into the deploy's log until the deploy is done. */
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

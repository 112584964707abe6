import { setTimeout as delay } from 'node:timers/promises'
import { announceService } from '#server/changes.ts'
import { makeLive } from '#server/deploys/operations.ts'
import { getDeploy, type DeployRow, type Snapshot } from '#server/deploys/store.ts'
import { disksOf } from '#server/disks/list.ts'
import { AppError } from '#server/errors.ts'
import { instanceMachine } from '#server/instances/states.ts'
import { getInstance, instancesOf, updateInstance } from '#server/instances/store.ts'
import type { LogWriter } from '#server/logs/files.ts'
import { getService, type ServiceRow } from '#server/services/store.ts'
import { TYPES, wantedInstances } from '#server/services/types.ts'
import { tryMove } from '#server/state-machine.ts'
import { bringUp } from '../instances/bring-up.ts'
import { lossOf, removeInstance, stopSecondsOf } from '../instances/containers.ts'
import { Ends, recordEnd } from '../instances/ends.ts'
import type { Launch } from '../instances/launch.ts'
import { addPlaced } from '../instances/place.ts'
import { endOf, NotReady } from '../instances/readiness.ts'
import { isLost } from '../nodes/presence.ts'
import type { AbortReason } from '../work/abort-reason.ts'
import { forEachLimited } from '../work/each.ts'
import type { World } from '../world.ts'
import { CopiedOutput } from './copied-output.ts'

/** Containers created or removed in parallel; more would be too much for the host's disk. */
const PARALLEL = 4
/** How long the last output of a failed program may take to arrive. */
const LAST_LINES_MS = 300

/** Prepares what a deploy's containers need on a node. */
export type LaunchOn = (nodeId: string) => Promise<Launch>

/**
 * Rolls a deploy out: starts its instances next to the old ones, waits until each is ready, then switches the routes at
 * once. The old instances are then `draining`, and the instance keeper removes them. Instances of an interrupted try are reused.
 * If it fails it throws; then the new instances are removed and the old ones were never stopped.
 */
export async function rollOut(
  world: World,
  deploy: DeployRow,
  snapshot: Snapshot,
  launch: LaunchOn,
  log: LogWriter,
  signal: AbortSignal,
): Promise<void> {
  const output = new CopiedOutput(world, log)
  try {
    const service = getService(deploy.service_id)!
    if (wantedInstances({ ...service, suspended: 0 }) > 0) log.steps.begin('start', 'Start instances')
    const say = (what: string) => log.system(what)
    // The first may be the first in its environment's network.
    const add = () => addPlaced(world, service, deploy.id, snapshot, launch, say, signal)
    const instances = await prepareInstances(world, service, deploy, add)
    if (instances.length > 0)
      log.system(`starting ${instances.length} instance${instances.length === 1 ? '' : 's'}`)
    const started = new Set<string>()
    const onStart = (id: string) => {
      output.follow(id)
      // Further ones start when others are ready.
      if (started.add(id).size === Math.min(instances.length, PARALLEL))
        log.steps.begin('health', 'Wait until healthy')
    }
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
        await bringUp(world, () => launch(nodeOf(id)), id, { ends, onStart, say }, going)
        log.system(`${id} is ready`)
        updateInstance(id, { reason: null })
      } catch (error) {
        // If one instance fails, the rollout fails.
        failed.abort()
        throw error
      }
    }
    await forEachLimited(instances, PARALLEL, (id) => up(id, () => onStart(id)))
    // A single instance had no time to end since it came up.
    if (instances.length > 1) await untilAllAreUp(world, instances, launch, ends, log, up)
    await output.caughtUp()
    signal.throwIfAborted()
    log.steps.begin('switch', 'Switch traffic')
    await world.dataPlane.switchOver(service.id, deploy.id, () => recordSwitch(deploy))
    log.system('live')
  } catch (error) {
    // The next start reuses the instances.
    if (signal.reason === ('stopping' satisfies AbortReason)) throw error
    if (error instanceof NotReady) await delay(LAST_LINES_MS)
    // The instance keeper removes later what cannot be removed now.
    await removeInstancesOf(world, deploy).catch(() => {})
    throw error instanceof NotReady
      ? new NotReady([error.message, ...withoutRepetition(output.lastLines)].join('\n'))
      : error
  } finally {
    output.end()
  }
}

/** Removes the instances of a deploy that did not go live. */
export async function removeInstancesOf(world: World, deploy: DeployRow): Promise<void> {
  const instances = instancesOf(deploy.service_id).filter(({ deploy_id }) => deploy_id === deploy.id)
  const service = getService(deploy.service_id)
  await forEachLimited(instances, PARALLEL, (instance) =>
    removeInstance(world, instance, service && mayBeAtWork(service) ? stopSecondsOf(instance) : 0),
  )
}

/** Whether a program may have begun something before its deploy was live. One that gets its work by requests has not. */
function mayBeAtWork(service: ServiceRow): boolean {
  return !TYPES[service.type].hasHosts || disksOf(service).length > 0
}

async function prepareInstances(
  world: World,
  service: ServiceRow,
  deploy: DeployRow,
  add: () => Promise<string>,
): Promise<string[]> {
  const ofDeploy = instancesOf(service.id).filter(({ deploy_id }) => deploy_id === deploy.id)
  const [lost, kept] = partition(ofDeploy, ({ node_id }) => isLost(node_id))
  for (const each of lost) await removeInstance(world, each, 0)
  const wanted = wantedInstances({ ...service, suspended: 0 })
  for (const extra of kept.splice(wanted)) await removeInstance(world, extra, 0)
  const ids = kept.map(({ id }) => id)
  while (ids.length < wanted) ids.push(await add())
  return ids
}

function partition<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))]
}

/** The node of an instance. Throws `conflict` if it is gone. */
function nodeOf(id: string): string {
  const instance = getInstance(id)
  if (!instance) throw new AppError('conflict', `${id} was removed while it was starting`)
  return instance.node_id
}

/** Restarts instances that ended while others were still starting. Throws NotReady if one ended too often. */
async function untilAllAreUp(
  world: World,
  instances: readonly string[],
  launch: LaunchOn,
  ends: Ends,
  log: LogWriter,
  up: (id: string) => Promise<void>,
): Promise<void> {
  for (;;) {
    const launches = new Map<string, Launch>()
    for (const nodeId of new Set(instances.map(nodeOf))) launches.set(nodeId, await launch(nodeId))
    const ended: string[] = []
    await forEachLimited(instances, PARALLEL, async (id) => {
      const { nodeId, network } = launches.get(nodeOf(id))!
      const container = await world.engineOf(nodeId).containers.inspect(id)
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

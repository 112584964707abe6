import type { DeployRow, Snapshot } from '#server/deploys/store.ts'
import { instanceMachine } from '#server/instances/states.ts'
import { instancesOf } from '#server/instances/store.ts'
import type { LogWriter } from '#server/log-files.ts'
import { tryMove } from '#server/machine.ts'
import type { ServiceRow } from '#server/services/store.ts'
import { removeInstance, STOP_GRACE_SECONDS } from '../instances/containers.ts'
import type { World } from '../world.ts'
import { outliveRotation } from './rotation.ts'

/** Requests under way in the old instance may take this long. */
const DRAIN_MS = 30_000

/** Of each service whose old instance was stopped for a rollout that is under way: the deploy that is rolled out. */
const stopped = new Map<string, string>()

/** Whether a service runs nothing now because a rollout, which is not live yet, stopped its old instance first. */
export function isStoppedFirst({ id, live_deploy_id }: Pick<ServiceRow, 'id' | 'live_deploy_id'>): boolean {
  const deployId = stopped.get(id)
  return deployId !== undefined && deployId !== live_deploy_id
}

/**
 * Runs a rollout. Two programs must not write to one disk, so that with a disk the old instance is stopped before, and
 * when the rollout fails the supervisor starts it again.
 */
export async function stoppingFirst(
  world: World,
  deploy: DeployRow,
  snapshot: Snapshot,
  log: LogWriter,
  signal: AbortSignal,
  rollOut: () => Promise<void>,
): Promise<void> {
  if (snapshot.disk_mount_path === null) return await rollOut()
  stopped.set(deploy.service_id, deploy.id)
  try {
    await stopOld(world, deploy, log, signal)
    await rollOut()
  } catch (error) {
    log.system('the former version is started again')
    throw error
  } finally {
    stopped.delete(deploy.service_id)
  }
}

async function stopOld(world: World, deploy: DeployRow, log: LogWriter, signal: AbortSignal): Promise<void> {
  const old = instancesOf(deploy.service_id).filter(({ deploy_id }) => deploy_id !== deploy.id)
  if (old.length === 0) return
  log.system('stopping the old instance first, as the service has a disk')
  const now = Date.now()
  for (const { id } of old) tryMove(instanceMachine, id, 'draining', { left_rotation_at: now })
  await world.dataPlane.sync()
  for (const instance of old) {
    await world.dataPlane.drain(instance.id, DRAIN_MS)
    await outliveRotation({ left_rotation_at: now }, signal)
    await removeInstance(world, instance, STOP_GRACE_SECONDS)
  }
}

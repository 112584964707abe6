import { updateDeploy, type DeployRow, type Snapshot } from '#server/deploys/store.ts'
import { instanceMachine } from '#server/instances/states.ts'
import { instancesOf } from '#server/instances/store.ts'
import type { LogWriter } from '#server/logs/files.ts'
import { tryMove } from '#server/state-machine.ts'
import { removeInstance, STOP_GRACE_SECONDS } from '../instances/containers.ts'
import { waitAfterRotation } from '../instances/rotation.ts'
import type { World } from '../world.ts'

/** How long open requests of the old instance may take. */
const DRAIN_MS = 30_000

/**
 * Stops the old instance before a rollout of a service with a disk: two programs must not write to it. The deploy records
 * this, so that nothing restarts the old instance before the deploy has ended; then the instance keeper does if needed.
 */
export async function stopFirst(
  world: World,
  deploy: DeployRow,
  snapshot: Snapshot,
  log: LogWriter,
  signal: AbortSignal,
): Promise<void> {
  if (snapshot.disk_mount_path === null) return
  updateDeploy(deploy.id, { stops_first: 1 })
  const old = instancesOf(deploy.service_id).filter(({ deploy_id }) => deploy_id !== deploy.id)
  if (old.length === 0) return
  log.system('stopping the old instance first, because the service has a disk')
  const now = Date.now()
  for (const { id } of old) tryMove(instanceMachine, id, 'draining', { left_rotation_at: now })
  await world.dataPlane.sync()
  for (const instance of old) {
    await world.dataPlane.drain(instance.id, DRAIN_MS)
    await waitAfterRotation({ left_rotation_at: now }, signal)
    await removeInstance(world, instance, STOP_GRACE_SECONDS)
  }
}

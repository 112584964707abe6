import { setTimeout as delay } from 'node:timers/promises'
import { aborted } from 'node:util'
import { updateDeploy, type DeployRow, type Snapshot } from '#server/deploys/store.ts'
import { isDiskHeld } from '#server/disks/holds.ts'
import { instanceMachine } from '#server/instances/states.ts'
import { instancesOf } from '#server/instances/store.ts'
import type { LogWriter } from '#server/logs/files.ts'
import { tryMove } from '#server/state-machine.ts'
import { drainMsOf, removeInstance, stopSecondsOf } from '../instances/containers.ts'
import { waitAfterRotation } from '../instances/rotation.ts'
import type { World } from '../world.ts'

/** How often it is checked whether the disk is free again. */
const HELD_PERIOD_MS = 200

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
  if (snapshot.disks.length === 0) return
  const old = instancesOf(deploy.service_id).filter(({ deploy_id }) => deploy_id !== deploy.id)
  if (old.length > 0 || isDiskHeld(deploy.service_id)) log.steps.begin('stop', 'Stop the old instance')
  if (isDiskHeld(deploy.service_id)) log.system('waiting for the backup or the restore of the disk to finish')
  while (isDiskHeld(deploy.service_id)) await delay(HELD_PERIOD_MS, undefined, { signal })
  // From now on no work on the disk begins that needs the program stopped.
  updateDeploy(deploy.id, { stops_first: 1 })
  if (old.length === 0) return
  log.system('stopping the old instance first, because the service has a disk')
  const now = Date.now()
  for (const { id } of old) tryMove(instanceMachine, id, 'draining', { left_rotation_at: now })
  await world.dataPlane.sync()
  for (const instance of old) {
    // If the deploy is canceled meanwhile, the instance keeper waits and removes.
    await Promise.race([world.dataPlane.drain(instance.id, drainMsOf(instance)), aborted(signal, instance)])
    signal.throwIfAborted()
    await waitAfterRotation({ left_rotation_at: now }, signal)
    await removeInstance(world, instance, stopSecondsOf(instance))
  }
}

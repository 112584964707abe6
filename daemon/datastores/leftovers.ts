import { dueSpareVolumes } from '#server/backups/spare-volumes.ts'
import { getDatastore } from '#server/datastores/store.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { hasOtherNodes } from '#server/nodes/store.ts'
import type { Task } from '../work/driver.ts'
import { removeSpareVolumes } from '../backups/spare-volumes.ts'
import { answerOf } from '../nodes/presence.ts'
import { clockGuard } from '../work/clock-guard.ts'
import { runEach } from '../work/each.ts'
import type { World } from '../world.ts'
import { removeStrayWork } from './tool.ts'

const log = logger('datastores')

const PERIOD_MS = 60_000

/**
 * Removes what work on datastores left in the engine, and replaced volumes, those of disks too, when their time is up;
 * `isUnderWay` says which names are in use.
 */
export function leftovers(world: World, isUnderWay: (name: string) => boolean): Task {
  const clock = clockGuard()
  return {
    name: 'leftovers of datastores',
    everyMs: PERIOD_MS,
    async run() {
      if (world.reachByAddress === null) return
      // Each of them, even if a node hangs.
      await runEach([
        () => removeStrayWork(world, isUnderWay),
        () => (hasOtherNodes() ? removeLeftCopies(world) : Promise.resolve()),
        // Delete nothing by a clock that has just changed.
        () => (clock.heldMs() > 0 ? Promise.resolve() : removeDueVolumes(world)),
      ])
    },
  }
}

async function removeDueVolumes(world: World): Promise<void> {
  for (const spare of dueSpareVolumes())
    await removeSpareVolumes(world, [spare]).catch((error: unknown) =>
      log.warn('a volume cannot be removed yet', { volume: spare.volume, error: messageOf(error) }),
    )
}

/** Removes the containers of datastores that were moved while their node did not answer; their volumes are spare. */
async function removeLeftCopies(world: World): Promise<void> {
  await runEach(
    world.engines().map(({ nodeId, engine: { containers } }) => async () => {
      for (const { name } of await answerOf(nodeId, containers.list({ 'deployer.kind': 'datastore' }))) {
        if (getDatastore(name)?.node_id === nodeId) continue
        log.warn('removing the container of a datastore that is on another node now', { datastore: name })
        await answerOf(nodeId, containers.remove(name))
      }
    }),
  )
}

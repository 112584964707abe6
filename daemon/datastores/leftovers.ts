import { announceDatastore } from '#server/changes.ts'
import { getDatastore } from '#server/datastores/store.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import {
  dueSpareVolumes,
  forgetSpareVolume,
  type SpareVolume,
} from '#server/datastores/restores-and-upgrades-store.ts'
import type { Task } from '../work/driver.ts'
import type { Engine } from '../engine/index.ts'
import { clockGuard } from '../work/clock-guard.ts'
import type { World } from '../world.ts'
import { removeStrayWork } from './tool.ts'

const log = logger('datastores')

const PERIOD_MS = 60_000

/**
 * Removes what work on datastores left in the engine, and replaced volumes when their time is up; `isUnderWay` says which
 * names are in use.
 */
export function leftovers(world: World, isUnderWay: (name: string) => boolean): Task {
  const clock = clockGuard()
  return {
    name: 'leftovers of datastores',
    everyMs: PERIOD_MS,
    async run() {
      if (world.reachByAddress === null) return
      await removeStrayWork(world, isUnderWay)
      // Delete nothing by a clock that has just changed.
      if (clock.heldMs() > 0) return
      for (const spare of dueSpareVolumes())
        await removeSpareVolumes(world.engine, [spare]).catch((error: unknown) =>
          log.warn('a volume cannot be removed yet', { volume: spare.volume, error: messageOf(error) }),
        )
    },
  }
}

/** Removes volumes that no datastore uses any more. Throws `runtime_error`. */
export async function removeSpareVolumes(engine: Engine, spares: SpareVolume[]): Promise<void> {
  for (const { volume, datastore_id } of spares) {
    await engine.volumes.remove(volume)
    forgetSpareVolume(volume)
    if (getDatastore(datastore_id)) announceDatastore(datastore_id)
  }
}

import { useContext } from '#server/context.ts'
import { isOnTrial, lookAtTrial } from '#server/upgrade/trial.ts'
import type { Fence } from '../fence.ts'
import type { World } from '../world.ts'

/** What a new version does until it is decided that it stays: the routes are as the former one recorded them. */
export function trialFence(world: World): Fence {
  return {
    name: 'upgrade trial',
    async look() {
      await world.engine.info()
    },
    isOpen() {
      lookAtTrial(useContext().options.dataDirectory, world.engineFault)
      return !isOnTrial()
    },
  }
}

import { messageOf } from '#server/errors.ts'
import type { Task } from './work/driver.ts'
import type { World } from './world.ts'

/** Between two looks at what runs, and at whether the server may go to work, also from the command line. */
const PERIOD_MS = 1_000

/** Why a server only looks for now. */
export interface Fence {
  name: string
  /** Looks at what runs. Throws while the engine does not answer. */
  look(): Promise<void>
  /** Whether the server may go to work now; called after each look. */
  isOpen(): boolean
  /** What is done before it does. */
  end?(): Promise<void>
}

/** What a server does that serves and changes nothing: it looks until it may go to work, then calls `open`, once. */
export function fenceTask(world: World, fence: Fence, open: () => void): Task {
  let hasOpened = false
  return {
    name: fence.name,
    everyMs: PERIOD_MS,
    async run() {
      if (hasOpened) return
      try {
        await fence.look()
        world.engineFault = null
      } catch (error) {
        world.engineFault = messageOf(error)
      }
      if (!fence.isOpen()) return
      await fence.end?.()
      hasOpened = true
      open()
    },
  }
}

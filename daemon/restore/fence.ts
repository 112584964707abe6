import { logger } from '#server/log.ts'
import { isFenced } from '#server/restore/fence.ts'
import { getRestore } from '#server/restore/store.ts'
import { restoreWaits } from '#server/restore/waiting.ts'
import type { Fence } from '../fence.ts'
import type { World } from '../world.ts'
import { foundUpstreams } from './found.ts'
import { plan } from './plan.ts'

const log = logger('restore')

/** How long a confirmed restore waits for the engine before the server goes to work without. */
const PLANNED_WITHIN_MS = 30_000

/**
 * What a restored server does until somebody confirms that the old one is gone: it routes to the containers that run, and
 * changes nothing.
 */
export function restoreFence(world: World): Fence {
  let lastFound = ''
  let confirmedAt: number | null = null
  /** Since when no look has succeeded, such as while the engine does not answer. */
  let failingSince: number | null = null
  return {
    name: 'restore fence',
    async look() {
      failingSince ??= performance.now()
      const found = await foundUpstreams(world)
      const text = JSON.stringify([...found])
      if (text !== lastFound) await world.dataPlane.routeTo(found)
      lastFound = text
      if (!isFenced()) await plan(world)
      failingSince = null
    },
    // What the engine lacks is found out before anything can be created again, but an absent engine holds up no other work,
    // unless something else was found to keep the restore, such as a former machine that runs.
    isOpen() {
      if (isFenced() || restoreWaits() !== null) return false
      confirmedAt ??= performance.now()
      if (getRestore()?.planned === 1) return true
      if (failingSince === null) return false
      return performance.now() - Math.max(failingSince, confirmedAt) > PLANNED_WITHIN_MS
    },
    async end() {
      log.info('the restore was confirmed: going to work')
      await world.dataPlane.routeTo(null)
    },
  }
}

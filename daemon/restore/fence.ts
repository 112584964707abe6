import { announceServer } from '#server/changes.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { hasOtherNodes } from '#server/nodes/store.ts'
import { isFenced } from '#server/restore/fence.ts'
import { getRestore } from '#server/restore/store.ts'
import { noteRestoreWaits, restoreWaits } from '#server/restore/waiting.ts'
import type { Fence } from '../fence.ts'
import type { World } from '../world.ts'
import { foundUpstreams } from './found.ts'
import { planOnce } from './plan.ts'

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
  return {
    name: 'restore fence',
    async look() {
      const found = await foundUpstreams(world)
      const text = JSON.stringify([...found])
      if (text !== lastFound) await world.dataPlane.routeTo(found)
      lastFound = text
      if (!isFenced()) await planUnlessRefused(world)
    },
    // What the engine lacks is found out before anything can be created again, but an absent engine holds up no other work.
    isOpen() {
      if (isFenced() || restoreWaits() !== null) return false
      confirmedAt ??= performance.now()
      return getRestore()?.planned === 1 || performance.now() - confirmedAt > PLANNED_WITHIN_MS
    },
    async end() {
      log.info('the restore was confirmed: going to work')
      await world.dataPlane.routeTo(null)
    },
  }
}

/** Plans the restore; says why it cannot go on for now, such as while the former machine still runs. */
async function planUnlessRefused(world: World): Promise<void> {
  let why: string | null = null
  try {
    await planOnce(world)
  } catch (error) {
    if (!(await keepsWaiting(world, error))) throw error
    why = messageOf(error)
  }
  if (why === restoreWaits()) return
  if (why !== null) log.warn('the restore waits', { reason: why })
  noteRestoreWaits(why)
  announceServer('restore')
}

/** Whether a restore waits because of this: not while its own engine is away, which the other nodes must not wait for. */
async function keepsWaiting({ engine }: World, error: unknown): Promise<boolean> {
  if (!(error instanceof AppError)) return false
  if (error.code === 'conflict') return true
  return hasOtherNodes() && (await engine.answers())
}

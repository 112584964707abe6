import { announceServer } from '#server/changes.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { emitEvent } from '#server/notifications/events.ts'
import { useDatabase } from '#server/context.ts'
import { getRestore, moveRestore, restoreSteps, updateStep, type StepRow } from '#server/restore/store.ts'
import type { Task } from '../work/driver.ts'
import type { World } from '../world.ts'
import { plan } from './plan.ts'
import { advance } from './steps.ts'

const log = logger('restore')

/** Between two looks while a restore runs. */
const PERIOD_MS = 1_000

/** Brings back what a restored server had: datastores and disks first, then what may need them. */
export function restore(world: World): Task {
  /** When each step was first seen, on the monotonic clock. */
  const seen = new Map<string, number>()
  return {
    name: 'restore',
    everyMs: PERIOD_MS,
    async run() {
      const row = getRestore()
      if (row?.status !== 'running' || world.reachByAddress === null) return
      // Confirmed while the engine was away, the server went to work without.
      if (!(await plan(world))) return
      const waiting = restoreSteps().filter(isUnderWay)
      const data = waiting.filter(({ resource }) => resource !== 'service')
      for (const step of data.length > 0 ? data : waiting) {
        const key = `${step.resource} ${step.id}`
        seen.set(key, seen.get(key) ?? performance.now())
        take(step, performance.now() - seen.get(key)!)
      }
      if (!restoreSteps().some(isUnderWay)) finish()
    },
  }
}

function isUnderWay({ status }: StepRow): boolean {
  return status === 'waiting' || status === 'running'
}

/** Takes a step further; one that cannot be taken does not hold the others up. */
function take(step: StepRow, waitedMs: number): void {
  try {
    advance(step, waitedMs)
  } catch (error) {
    // Such as while a backup of it is made; it is tried again.
    const isBusy = error instanceof AppError && error.code === 'conflict' && waitedMs < BUSY_MS
    if (!isBusy) updateStep(step, { status: 'failed', error: messageOf(error) })
  }
  announceServer('restore')
}

/** How long something may be busy before its step has failed. */
const BUSY_MS = 60_000

function finish(): void {
  const failed = restoreSteps().filter(({ status }) => status === 'failed')
  useDatabase().transaction(() => {
    moveRestore('running', 'done')
    emitEvent(
      'restore.finished',
      'server',
      JSON.stringify({ failed: failed.map(({ name, error }) => ({ name, error })) }),
    )
  })
  announceServer('restore')
  log.info('the restore has finished', { failed: failed.length })
}

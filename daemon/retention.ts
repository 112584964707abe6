import { setImmediate as turn } from 'node:timers/promises'
import { deleteAuditEventsBefore } from '#server/audit/store.ts'
import { useContext } from '#server/context.ts'
import { deleteServiceEventsBefore } from '#server/service-events/store.ts'
import { clockGuard } from './work/clock-guard.ts'
import type { Task } from './work/driver.ts'

const PERIOD_MS = 3_600_000
/** A transaction with more would hold up others. */
const BATCH = 1_000
/** How long the timelines of services go back. */
const TIMELINE_MS = 90 * 86_400_000

/** The task that removes events of the audit log that are older than `--audit-retention`, and old ones of services. */
export function retention(): Task {
  const clock = clockGuard()
  return {
    name: 'retention',
    everyMs: PERIOD_MS,
    async run(signal) {
      // Delete nothing by a clock that has just changed.
      if (clock.heldMs() > 0) return
      const now = Date.now()
      const oldest = now - useContext().options.auditRetentionMs
      while (!signal.aborted && deleteAuditEventsBefore(oldest, BATCH) === BATCH) await turn()
      while (!signal.aborted && deleteServiceEventsBefore(now - TIMELINE_MS, BATCH) === BATCH) await turn()
    },
  }
}

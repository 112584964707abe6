import { useDatabase } from '#server/context.ts'
import { nextDue } from '#server/jobs/cron.ts'
import { logger } from '#server/log.ts'
import { emitEvent, lastReported, setReported } from '#server/notifications/events.ts'
import { timestamp } from '#server/clock.ts'
import { requestServerBackup } from '#server/server-backups/operations.ts'
import {
  scheduledSince,
  scheduleMark,
  serverSettings,
  setScheduleMark,
} from '#server/server-backups/settings.ts'
import { newestSoundServerBackup, serverBackupInProgress } from '#server/server-backups/store.ts'
import { JUMP_MS } from '../work/clock-guard.ts'

const log = logger('server backups')

/** If backups were missed, one is made when the last of them was due within this time. */
const CATCH_UP_WITHIN_MS = 24 * 3_600_000
/** Under this key it is remembered that the backup was reported as overdue. */
const OVERDUE = 'server backup overdue'

/** Requests a server backup if one is due. Returns in how many milliseconds the next one is. */
export function requestIfDue(now = Date.now()): number {
  const { backup_schedule: schedule, backup_datastores, backup_disks } = serverSettings()
  if (schedule === null) return Infinity
  const mark = scheduleMark()
  // If the clock was set back, everything counts from now.
  const isKnown = mark !== null && mark <= now + JUMP_MS
  const seenAt = isKnown ? Math.max(mark, now - CATCH_UP_WITHIN_MS) : now
  if (!isKnown) setScheduleMark(now)
  const due = nextDue(schedule, new Date(seenAt))?.getTime() ?? Infinity
  if (due > now) return due - now
  useDatabase().transaction(() => {
    setScheduleMark(now)
    if (serverBackupInProgress()) log.info('skipping a server backup that is due: another one is running')
    else requestServerBackup({ datastores: backup_datastores, disks: backup_disks }, 'schedule')
  })
  return (nextDue(schedule, new Date(now))?.getTime() ?? Infinity) - now
}

/** Reports once that there was no sound backup for two times of the schedule. */
export function reportIfOverdue(now = Date.now()): void {
  const newest = newestSoundServerBackup()?.created_at ?? null
  const overdueSince = overdueAt(newest, serverSettings().backup_schedule, scheduledSince())
  const isOverdue = overdueSince !== null && overdueSince <= now && !serverBackupInProgress()
  if (!isOverdue) {
    if (lastReported(OVERDUE) !== null && (overdueSince ?? Infinity) > now) setReported(OVERDUE, null)
    return
  }
  if (lastReported(OVERDUE) !== null) return
  useDatabase().transaction(() => {
    setReported(OVERDUE, 'overdue')
    emitEvent('backup.overdue', 'server', JSON.stringify({ last_succeeded_at: newest && timestamp(newest) }))
  })
}

/**
 * When a backup is overdue: the second time of the schedule after the newest sound one or, without one, after there should
 * have been one. Null without a schedule.
 */
export function overdueAt(
  newest: number | null,
  schedule: string | null,
  since: number | null,
): number | null {
  const from = newest ?? since
  if (schedule === null || from === null) return null
  const first = nextDue(schedule, new Date(from))
  return (first && nextDue(schedule, first)?.getTime()) ?? null
}

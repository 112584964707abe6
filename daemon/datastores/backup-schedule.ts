import { beginBackup, missBackup } from '#server/backups/operations.ts'
import { runningBackup } from '#server/backups/store.ts'
import { onChange, announcingAtEnd } from '#server/changes.ts'
import { useDatabase } from '#server/context.ts'
import { allDatastores, recordDatastore, type DatastoreRow } from '#server/datastores/store.ts'
import { nextDue } from '#server/jobs/cron.ts'
import { logger } from '#server/log.ts'
import type { Task } from '../work/driver.ts'
import { clockGuard, JUMP_MS } from '../work/clock-guard.ts'

const log = logger('backups')

/** Interval of a pass even when nothing is due, so that a changed clock is noticed. */
const PERIOD_MS = 30_000
/** If backups were missed, one is made when the last of them was due within this time. */
const CATCH_UP_WITHIN_MS = 3_600_000

/** Requests backups when they are due. Each record says up to when its schedule is handled, so that a missed one is made. */
export class BackupSchedule {
  readonly #guard = clockGuard()
  readonly #stopListening: () => void
  #timer: NodeJS.Timeout | undefined
  #wake: () => void = () => {}

  constructor() {
    this.#stopListening = onChange(({ kind }) => {
      if (kind === 'datastore') this.#wake()
    })
  }

  /** Returns the task for a driver; `wake` requests its next run. */
  task(wake: () => void): Task {
    this.#wake = wake
    return { name: 'backup schedule', everyMs: PERIOD_MS, run: () => Promise.resolve(this.#look()) }
  }

  stop(): void {
    this.#stopListening()
    clearTimeout(this.#timer)
  }

  #look(): void {
    clearTimeout(this.#timer)
    const heldMs = this.#guard.heldMs()
    let nextMs = PERIOD_MS
    if (heldMs > 0) nextMs = heldMs
    else for (const row of allDatastores()) nextMs = Math.min(nextMs, requestIfDue(row))
    this.#timer = setTimeout(() => this.#wake(), Math.max(1, nextMs))
  }
}

/** Requests a backup if one is due. Returns in how many milliseconds the next one is. */
function requestIfDue(row: DatastoreRow): number {
  const { backup_schedule: schedule, backup_seen_at: mark } = row
  if (schedule === null || row.status === 'deleting') return Infinity
  const now = Date.now()
  // If the clock was set back, everything counts from now.
  const isKnown = mark !== null && mark <= now + JUMP_MS
  const seenAt = isKnown ? Math.max(mark, now - CATCH_UP_WITHIN_MS) : now
  if (!isKnown) recordDatastore(row.id, { backup_seen_at: now })
  const due = nextDue(schedule, new Date(seenAt))?.getTime() ?? Infinity
  if (due > now) return due - now
  // A backup that could not be recorded, for example on a full disk, stays due.
  announcingAtEnd(() =>
    useDatabase().transaction(() => {
      recordDatastore(row.id, { backup_seen_at: now })
      ask(row)
    }),
  )
  return (nextDue(schedule, new Date(now))?.getTime() ?? Infinity) - now
}

function ask(row: DatastoreRow): void {
  if (runningBackup(row.id))
    log.info('skipping a backup that is due: another one is running', { datastore: row.id })
  else if (row.status === 'available') beginBackup(row, 'schedule')
  else missBackup(row, `it was due while the datastore was ${row.status}`)
}

import { beginBackup, missBackup } from '#server/backups/operations.ts'
import { runningBackup } from '#server/backups/store.ts'
import { onChange, tellingAtEnd } from '#server/changes.ts'
import { useDatabase } from '#server/context.ts'
import { allDatastores, recordDatastore, type DatastoreRow } from '#server/datastores/store.ts'
import { nextDue } from '#server/jobs/cron.ts'
import { logger } from '#server/log.ts'
import type { Task } from '../work/driver.ts'
import { clockGuard, JUMP_MS } from '../work/clock-guard.ts'

const log = logger('backups')

/** A look even when nothing is due: a clock that was set is noticed within this. */
const PERIOD_MS = 30_000
/** Of the backups that were missed, one is made up when the last was due within this. */
const MAKE_UP_MS = 3_600_000

/** Asks for backups when they fall due. Up to when each schedule is settled is in its record, so that a missed one is made up. */
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

  /** The task to hand to a driver; `wake` is how it asks for its next run. */
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
    else for (const row of allDatastores()) nextMs = Math.min(nextMs, lookAt(row))
    this.#timer = setTimeout(() => this.#wake(), Math.max(1, nextMs))
  }
}

/** Asks for a backup when one is due; answers in how many milliseconds the next is. */
function lookAt(row: DatastoreRow): number {
  const { backup_schedule: schedule, backup_seen_at: mark } = row
  if (schedule === null || row.status === 'deleting') return Infinity
  const now = Date.now()
  // Everything counts from now when the clock was set back.
  const isKnown = mark !== null && mark <= now + JUMP_MS
  const seenAt = isKnown ? Math.max(mark, now - MAKE_UP_MS) : now
  if (!isKnown) recordDatastore(row.id, { backup_seen_at: now })
  const due = nextDue(schedule, new Date(seenAt))?.getTime() ?? Infinity
  if (due > now) return due - now
  // One that could not be recorded falls due again, as after a full disk.
  tellingAtEnd(() =>
    useDatabase().transaction(() => {
      recordDatastore(row.id, { backup_seen_at: now })
      ask(row)
    }),
  )
  return (nextDue(schedule, new Date(now))?.getTime() ?? Infinity) - now
}

function ask(row: DatastoreRow): void {
  if (runningBackup(row.id)) log.info('a backup that is due is left out: one runs', { datastore: row.id })
  else if (row.status === 'available') beginBackup(row, 'schedule')
  else missBackup(row, `it was due while the datastore was ${row.status}`)
}

import { beginBackup, missBackup } from '#server/backups/operations.ts'
import { runningBackup } from '#server/backups/store.ts'
import { onBackupChange, recordSeen, scheduledOwners, type BackupOwner } from '#server/backups/owners.ts'
import { announcingAtEnd } from '#server/changes.ts'
import { useDatabase } from '#server/context.ts'
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
    this.#stopListening = onBackupChange(() => this.#wake())
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
    else for (const owners of scheduledOwners()) nextMs = Math.min(nextMs, requestIfDue(owners))
    this.#timer = setTimeout(() => this.#wake(), Math.max(1, nextMs))
  }
}

/** Requests backups of what shares a schedule if they are due. Returns in how many milliseconds the next ones are. */
function requestIfDue(owners: BackupOwner[]): number {
  const owner = owners[0]!
  const { seenAt: mark } = owner
  const schedule = owner.schedule!
  const now = Date.now()
  // If the clock was set back, everything counts from now.
  const isKnown = mark !== null && mark <= now + JUMP_MS
  const seenAt = isKnown ? Math.max(mark, now - CATCH_UP_WITHIN_MS) : now
  if (!isKnown) recordSeen(owner, now)
  const due = nextDue(schedule, new Date(seenAt))?.getTime() ?? Infinity
  if (due > now) return due - now
  // A backup that could not be recorded, for example on a full disk, stays due.
  announcingAtEnd(() =>
    useDatabase().transaction(() => {
      recordSeen(owner, now)
      for (const each of owners) ask(each)
    }),
  )
  return (nextDue(schedule, new Date(now))?.getTime() ?? Infinity) - now
}

function ask(owner: BackupOwner): void {
  if (runningBackup(owner.id, owner.disk))
    log.info('skipping a backup that is due: another one is running', { [owner.kind]: owner.id })
  else if (owner.obstacle === null) beginBackup(owner, 'schedule')
  else missBackup(owner, `it was due while ${owner.obstacle.state}`)
}

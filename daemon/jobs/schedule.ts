import { announceService, onChange } from '#server/changes.ts'
import { useDatabase } from '#server/context.ts'
import { nextDue } from '#server/jobs/cron.ts'
import { insertScheduledJob, announceJob } from '#server/jobs/operations.ts'
import { allMarks, getMark, removeMark, setMark } from '#server/jobs/marks.ts'
import { logger } from '#server/log.ts'
import { emitEvent } from '#server/notifications/events.ts'
import { allServices, getService, type ServiceRow } from '#server/services/store.ts'
import type { Task } from '../work/driver.ts'
import { clockGuard, JUMP_MS } from '../work/clock-guard.ts'

const log = logger('schedule')

/** Interval of a pass even when nothing is due, so that a changed clock is noticed. */
const PERIOD_MS = 30_000
/** If runs were missed, one is made when the last of them was due within this time. */
const CATCH_UP_WITHIN_MS = 3_600_000

interface Due {
  serviceId: string
  at: number
}

/**
 * Queues the runs of cron jobs when they are due. The database keeps a mark of how far each schedule is handled, so that a
 * run that was missed while the server was down is made. Services that are not live, are suspended or are being deleted have
 * no mark: when they come back, their schedule counts from then.
 */
export class Schedule {
  readonly #guard = clockGuard()
  readonly #changed = new Set<string>()
  readonly #stopListening: () => void
  /** The next due time of each cron job, soonest first. */
  #queue: Due[] = []
  #isLoaded = false
  #timer: NodeJS.Timeout | undefined
  #wake: () => void = () => {}

  constructor() {
    this.#stopListening = onChange(({ kind, id }) => {
      if (kind !== 'service') return
      this.#changed.add(id)
      this.#wake()
    })
  }

  /** Returns the task for a driver; `wake` requests its next run. */
  task(wake: () => void): Task {
    this.#wake = wake
    return { name: 'schedule', everyMs: PERIOD_MS, run: async () => this.#look() }
  }

  stop(): void {
    this.#stopListening()
    clearTimeout(this.#timer)
  }

  #look(): void {
    clearTimeout(this.#timer)
    const heldMs = this.#guard.heldMs()
    if (heldMs > 0) {
      // Everything is compared with the clock again once it is trusted.
      this.#isLoaded = false
      this.#wakeIn(heldMs)
      return
    }
    try {
      if (this.#isLoaded) this.#refresh()
      else this.#load()
      this.#queueDue()
    } catch (error) {
      // Runs that were taken out of the queue and not recorded are found again by their mark.
      this.#isLoaded = false
      throw error
    }
    if (this.#queue[0]) this.#wakeIn(this.#queue[0].at - Date.now())
  }

  #wakeIn(milliseconds: number): void {
    this.#timer = setTimeout(() => this.#wake(), Math.max(1, Math.min(PERIOD_MS, milliseconds)))
  }

  /** Compares every cron job with its mark: at start, and after the clock was changed. */
  #load(): void {
    this.#isLoaded = true
    this.#changed.clear()
    this.#queue = []
    useDatabase().transaction(() => {
      const marked = new Set(allMarks())
      for (const service of allServices()) {
        if (service.type === 'cron_job') this.#enqueue(service)
        marked.delete(service.id)
      }
      for (const id of marked) removeMark(id)
    })
  }

  /** Updates the queue for cron jobs that were changed, created or removed. */
  #refresh(): void {
    for (const id of this.#changed) {
      this.#changed.delete(id)
      const service = getService(id)
      if (service && service.type !== 'cron_job') continue
      this.#queue = this.#queue.filter(({ serviceId }) => serviceId !== id)
      if (service) this.#enqueue(service)
    }
  }

  #enqueue(service: ServiceRow): void {
    if (!isScheduled(service)) return removeMark(service.id)
    const now = Date.now()
    const mark = getMark(service.id)
    // A new schedule counts from now, and so does everything if the clock was set back far; after a small correction the
    // same run must not happen twice.
    const isKnown = mark?.schedule === service.schedule && mark.seen_at <= now + JUMP_MS
    const seenAt = isKnown ? Math.max(mark.seen_at, now - CATCH_UP_WITHIN_MS) : now
    if (!isKnown) setMark(service.id, service.schedule!, now)
    else if (mark.seen_at < seenAt) this.#reportMissed(service, mark.seen_at, seenAt)
    this.#insert(service, seenAt)
  }

  /** Reports runs that were missed and are not made up, in one message for all. */
  #reportMissed(service: ServiceRow, from: number, to: number): void {
    const due = nextDue(service.schedule!, new Date(from))
    if (!due || due.getTime() > to) return
    setMark(service.id, service.schedule!, to)
    emitEvent('job.missed', service.id, due.toISOString())
    announceService(service.id)
  }

  #insert(service: ServiceRow, after: number): void {
    const at = nextDue(service.schedule!, new Date(after))?.getTime()
    if (at === undefined) return
    const place = this.#queue.findIndex((other) => other.at > at)
    this.#queue.splice(place === -1 ? this.#queue.length : place, 0, { serviceId: service.id, at })
  }

  /** Queues the runs that are due, all in one transaction, and finds the next due time of their schedules. */
  #queueDue(): void {
    const now = Date.now()
    const count = this.#queue.findIndex(({ at }) => at > now)
    const due = this.#queue.splice(0, count === -1 ? this.#queue.length : count)
    if (due.length === 0) return
    const jobs = useDatabase().transaction(() =>
      due.flatMap(({ serviceId }) => {
        const service = getService(serviceId)
        if (!service || !isScheduled(service)) return []
        log.debug('a run is due', { service: serviceId, schedule: service.schedule })
        setMark(serviceId, service.schedule!, now)
        this.#insert(service, now)
        return insertScheduledJob(service) ?? this.#skipped(service)
      }),
    )
    for (const { id, service_id } of jobs) announceJob(id, service_id, 'created')
  }

  #skipped({ id, name }: ServiceRow): [] {
    log.info('skipping a run that is due: another one is already waiting', { service: id, name })
    return []
  }
}

function isScheduled(service: ServiceRow): boolean {
  return (
    service.schedule !== null && service.live_deploy_id !== null && !service.suspended && !service.deleting
  )
}

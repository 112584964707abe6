import { useDatabase } from '#server/context.ts'
import { logger } from '#server/log.ts'

const log = logger('clock')

/** A larger sudden change means that somebody set the clock; a smaller one is a correction. */
export const JUMP_MS = 10 * 60_000
/** A clock that was just set may be set again soon, so scheduled work waits this long. */
const HOLD_MS = 60_000
/** After a correction, the clock may be this far behind the record that was just written. */
const SLACK_MS = 1_000

interface Clock {
  now(): number
  /** Milliseconds that keep counting evenly when the clock is set. */
  monotonic(): number
}

const HOST: Clock = { now: () => Date.now(), monotonic: () => performance.now() }

/** Says that the host's clock cannot be trusted for a minute, because it was set or is behind the newest record. */
export class ClockGuard {
  readonly #clock: Clock
  #lastNow: number
  #lastMonotonic: number
  #heldUntil = -Infinity

  constructor(newestRow: number = newestMoment(), clock: Clock = HOST) {
    this.#clock = clock
    this.#lastNow = clock.now()
    this.#lastMonotonic = clock.monotonic()
    if (this.#lastNow + SLACK_MS < newestRow)
      this.#hold(
        `the clock is behind ${new Date(newestRow).toISOString()}, when the newest record was written`,
      )
  }

  /** How long scheduled work still has to wait; 0 when it may go on. */
  heldMs(): number {
    const now = this.#clock.now()
    const monotonic = this.#clock.monotonic()
    const jump = now - this.#lastNow - (monotonic - this.#lastMonotonic)
    this.#lastNow = now
    this.#lastMonotonic = monotonic
    if (Math.abs(jump) > JUMP_MS)
      this.#hold(
        `the clock was set ${jump > 0 ? 'forward' : 'back'} by ${Math.round(Math.abs(jump) / 60_000)} minutes`,
      )
    return Math.max(0, this.#heldUntil - monotonic)
  }

  #hold(why: string): void {
    this.#heldUntil = this.#clock.monotonic() + HOLD_MS
    log.warn(`${why}: scheduled work waits for a minute`)
  }
}

let shared: ClockGuard | undefined

/** The guard of the host's clock. All tasks share it, so that what it notices is logged once. */
export function clockGuard(): ClockGuard {
  return (shared ??= new ClockGuard())
}

/** When the newest deploy, job or schedule mark was written. */
function newestMoment(): number {
  const row = useDatabase().get<{ newest: number }>(
    `SELECT max(
       coalesce((SELECT created_at FROM deploys ORDER BY sequence DESC LIMIT 1), 0),
       coalesce((SELECT created_at FROM jobs ORDER BY sequence DESC LIMIT 1), 0),
       coalesce((SELECT max(seen_at) FROM schedule_marks), 0)) AS newest`,
  )
  return row!.newest
}

import { useDatabase } from '#server/context.ts'
import { logger } from '#server/log.ts'

const log = logger('clock')

/** A clock that moves by more at once was set, not corrected. */
export const JUMP_MS = 10 * 60_000
/** Whoever set the clock may set it again: what it would start waits this long. */
const HOLD_MS = 60_000
/** A clock that is corrected may be this much before what was just written. */
const SLACK_MS = 1_000

interface Clock {
  now(): number
  /** Milliseconds that no setting of the clock changes. */
  monotonic(): number
}

const HOST: Clock = { now: () => Date.now(), monotonic: () => performance.now() }

/** Says when the host's clock cannot be trusted for a minute, because it was set or is before what was already written. */
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
        `the clock is before ${new Date(newestRow).toISOString()}, when the newest record was written`,
      )
  }

  /** How long what goes by the clock has to wait still; 0 when it may go on. */
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
    log.warn(`${why}: what goes by the clock waits for a minute`)
  }
}

let shared: ClockGuard | undefined

/** The guard of the host's clock, one for all tasks: what it notices is said once. */
export function clockGuard(): ClockGuard {
  return (shared ??= new ClockGuard())
}

/** When the newest record of what happens by itself or by request was written. */
function newestMoment(): number {
  const row = useDatabase().get<{ newest: number }>(
    `SELECT max(
       coalesce((SELECT created_at FROM deploys ORDER BY sequence DESC LIMIT 1), 0),
       coalesce((SELECT created_at FROM jobs ORDER BY sequence DESC LIMIT 1), 0),
       coalesce((SELECT max(seen_at) FROM schedule_marks), 0)) AS newest`,
  )
  return row!.newest
}

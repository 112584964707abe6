import { schedule } from '#server/options/schedule.ts'
import { backoffMs } from '#server/work/backoff.ts'

/** Five exits in ten minutes are a crash loop. */
const LOOP_EXITS = 5
const LOOP_WINDOW_MS = 10 * 60_000
/** Failures remembered per instance; more would not change any result. */
const REMEMBERED = 16

/** When the program of each instance ended, or work on it failed, on the monotonic clock. */
export class CrashHistory {
  readonly #exits = new Map<string, number[]>()

  record(id: string): void {
    this.#exits.set(id, [...this.#recent(id), performance.now()].slice(-REMEMBERED))
  }

  /** Returns how often it ended or failed recently. */
  count(id: string): number {
    return this.#recent(id).length
  }

  /** Returns how long to wait before the next try; 0 if nothing failed. */
  backOffMs(id: string): number {
    const exits = this.count(id)
    const { crashPauseMs, maxCrashPauseMs } = schedule
    return exits === 0 ? 0 : backoffMs(exits, { firstMs: crashPauseMs, longestMs: maxCrashPauseMs })
  }

  /** Whether it ended so often recently that it counts as down although it is restarted. */
  isLooping(id: string): boolean {
    return this.count(id) >= LOOP_EXITS
  }

  forget(id: string): void {
    this.#exits.delete(id)
  }

  #recent(id: string): number[] {
    const since = performance.now() - LOOP_WINDOW_MS
    return (this.#exits.get(id) ?? []).filter((at) => at > since)
  }
}

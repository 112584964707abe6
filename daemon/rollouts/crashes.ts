/** First pause before an ended program is started again; each further exit doubles it. */
const FIRST_BACK_OFF_MS = 1_000
const LONGEST_BACK_OFF_MS = 60_000
/** Five exits in ten minutes are a crash loop. */
const LOOP_EXITS = 5
const LOOP_WINDOW_MS = 10 * 60_000
/** Exits remembered of one instance; more would not change an answer. */
const REMEMBERED = 16

/** When the program of each instance ended, on the monotonic clock. */
export class CrashHistory {
  readonly #exits = new Map<string, number[]>()

  record(instanceId: string): void {
    this.#exits.set(instanceId, [...this.#recent(instanceId), performance.now()].slice(-REMEMBERED))
  }

  /** How long to wait before the next start; 0 when it never ended. */
  backOffMs(instanceId: string): number {
    const exits = this.#recent(instanceId).length
    return exits === 0 ? 0 : Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** (exits - 1))
  }

  /** Whether it ended so often lately that it counts as down although it is started again. */
  isLooping(instanceId: string): boolean {
    return this.#recent(instanceId).length >= LOOP_EXITS
  }

  #recent(instanceId: string): number[] {
    const since = performance.now() - LOOP_WINDOW_MS
    return (this.#exits.get(instanceId) ?? []).filter((at) => at > since)
  }
}

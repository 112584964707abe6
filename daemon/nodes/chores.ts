/** Work in the background that is repeated: for each key one run at a time, and what the last one gave. */
export class Chores<T> {
  readonly #known = new Map<string, { isRunning: boolean; endedAt: number; result: T | undefined }>()

  /** What the last run gave; begins another one when that is older than `everyMs` says of it. `work` must not throw. */
  ask(key: string, everyMs: (last: T) => number, work: () => Promise<T>): T | undefined {
    const known = this.#known.get(key) ?? { isRunning: false, endedAt: 0, result: undefined }
    this.#known.set(key, known)
    const isFresh = known.result !== undefined && performance.now() - known.endedAt < everyMs(known.result)
    if (!known.isRunning && !isFresh) {
      known.isRunning = true
      void work().then((result) =>
        Object.assign(known, { isRunning: false, endedAt: performance.now(), result }),
      )
    }
    return known.result
  }

  /** The next question begins a run. */
  forget(key: string): void {
    this.#known.delete(key)
  }
}

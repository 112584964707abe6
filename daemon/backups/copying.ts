import { Background } from '../work/background.ts'

/** Work that takes longer is assumed to hang. */
const LONGEST_MS = 12 * 3_600_000
/** Pause before a failed request to the bucket is tried again. */
const RETRY_PAUSE_MS = 15 * 60_000

/** What is added to the reason of a failure: when it is tried again. */
export const TRIED_AGAIN = `trying again in ${RETRY_PAUSE_MS / 60_000} minutes`

interface Copy {
  key: string
  run: (signal: AbortSignal) => Promise<void>
  /** Records the failure. */
  onFailure: (error: unknown) => void
}

/** Work on the bucket in the background: a few at a time, and what failed is left alone for a while. */
export class Copying {
  readonly #work = new Background()
  readonly #parallel: number
  readonly #onEnd: () => void
  readonly #keys = new Set<string>()
  /** When failed work may begin again, on the monotonic clock. */
  readonly #pausedUntil = new Map<string, number>()

  /** `onEnd` is called whenever some work has ended, so that the next can begin. */
  constructor(parallel: number, onEnd: () => void) {
    this.#parallel = parallel
    this.#onEnd = onEnd
  }

  /** The keys of what is under way. */
  get keys(): ReadonlySet<string> {
    return this.#keys
  }

  /** Whether work with this key would begin now. */
  isFree(key: string): boolean {
    return (
      !this.#keys.has(key) &&
      this.#keys.size < this.#parallel &&
      performance.now() >= (this.#pausedUntil.get(key) ?? -Infinity)
    )
  }

  /** Begins some work if its key is free. */
  begin({ key, run, onFailure }: Copy): void {
    if (!this.isFree(key)) return
    this.#keys.add(key)
    this.#work.start({
      key,
      pauseMs: 0,
      run: async (signal) => {
        await run(AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)]))
        this.#pausedUntil.delete(key)
      },
      onFailure: (error) => {
        this.#pausedUntil.set(key, performance.now() + RETRY_PAUSE_MS)
        onFailure(error)
      },
      onEnd: () => {
        this.#keys.delete(key)
        this.#onEnd()
      },
    })
  }

  /** Cancels the work with this key and waits until it has ended. */
  cancel(key: string): Promise<void> {
    return this.#work.cancel(key)
  }

  /** Cancels everything when the server stops. */
  stop(): void {
    this.#work.stop()
  }
}

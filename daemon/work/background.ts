import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'

const log = logger('background')

/** What failed and cannot be recorded, as with a full disk, looks as if it had not been tried: it is not begun again at once. */
const UNRECORDED_PAUSE_MS = 5_000

interface Work {
  key: string
  /** Before the work begins, as after a failure. */
  pauseMs: number
  run: (signal: AbortSignal) => Promise<void>
  /** Records the failure. Where that throws, the key stays taken for a while. */
  onFailure: (error: unknown) => void
  /** Told in every case, once the key is free again. */
  onEnd: () => void
}

/** Work on containers that outlasts a look at them: one at a time for each key, each of which can be called off. */
export class Background {
  readonly #running = new Map<string, { abort: AbortController; done: Promise<void> }>()
  #stopped = false

  /** Whether work under this key is under way. */
  has(key: string): boolean {
    return this.#running.has(key)
  }

  /** Begins work unless some is under way under its key. */
  start({ key, pauseMs, run, onFailure, onEnd }: Work): void {
    if (this.#stopped || this.#running.has(key)) return
    const abort = new AbortController()
    const { signal } = abort
    const work = async (): Promise<void> => {
      try {
        if (pauseMs > 0) await delay(pauseMs, undefined, { signal })
        await run(signal)
      } catch (error) {
        const isRecorded = signal.aborted || tell(key, () => onFailure(error))
        if (!isRecorded) await delay(UNRECORDED_PAUSE_MS, undefined, { signal }).catch(() => {})
      } finally {
        this.#running.delete(key)
        if (!this.#stopped) tell(key, onEnd)
      }
    }
    this.#running.set(key, { abort, done: work() })
  }

  /** Calls off what is under way under this key and waits for its end. */
  async cancel(key: string): Promise<void> {
    const work = this.#running.get(key)
    work?.abort.abort()
    await work?.done
  }

  /** Calls off everything, for the end of the server. */
  stop(): void {
    this.#stopped = true
    for (const { abort } of this.#running.values()) abort.abort()
  }
}

/**
 * Tells of an end; answers whether that went well. A full disk keeps what happened from being recorded, and nobody waits
 * for this work who could be told of it.
 */
function tell(key: string, listener: () => void): boolean {
  try {
    listener()
    return true
  } catch (error) {
    log.error('the end of some work cannot be recorded', { work: key, error: messageOf(error) })
    return false
  }
}

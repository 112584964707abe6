import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'

const log = logger('background')

/** Pause after a failure that could not be recorded, for example on a full disk, since it would be retried at once. */
const UNRECORDED_PAUSE_MS = 5_000

interface Work {
  key: string
  /** How long to wait before the work begins, for example after a failure. */
  pauseMs: number
  run: (signal: AbortSignal) => Promise<void>
  /** Records the failure. If that throws, the key stays in use for a while. */
  onFailure: (error: unknown) => void
  /** Called in every case, once the key is free again. */
  onEnd: () => void
}

/** Runs long work on containers in the background: one at a time per key, and each can be canceled. */
export class Background {
  readonly #running = new Map<string, { abort: AbortController; done: Promise<void> }>()
  #stopped = false

  /** Whether work with this key is running. */
  has(key: string): boolean {
    return this.#running.has(key)
  }

  /** Starts work unless some with its key is running. */
  start({ key, pauseMs, run, onFailure, onEnd }: Work): void {
    if (this.#stopped || this.#running.has(key)) return
    const abort = new AbortController()
    const { signal } = abort
    const work = async (): Promise<void> => {
      try {
        if (pauseMs > 0) await delay(pauseMs, undefined, { signal })
        await run(signal)
      } catch (error) {
        const isRecorded = signal.aborted || runListener(key, () => onFailure(error))
        if (!isRecorded) await delay(UNRECORDED_PAUSE_MS, undefined, { signal }).catch(() => {})
      } finally {
        this.#running.delete(key)
        if (!this.#stopped) runListener(key, onEnd)
      }
    }
    this.#running.set(key, { abort, done: work() })
  }

  /** Cancels the work with this key and waits until it has ended. */
  async cancel(key: string): Promise<void> {
    const work = this.#running.get(key)
    work?.abort.abort()
    await work?.done
  }

  /** Cancels everything when the server stops. */
  stop(): void {
    this.#stopped = true
    for (const { abort } of this.#running.values()) abort.abort()
  }
}

/**
 * Calls a listener and returns whether it succeeded. If it fails, for example on a full disk, that is only logged, because
 * no caller waits for this work.
 */
function runListener(key: string, listener: () => void): boolean {
  try {
    listener()
    return true
  } catch (error) {
    log.error('the result of background work could not be recorded', { work: key, error: messageOf(error) })
    return false
  }
}

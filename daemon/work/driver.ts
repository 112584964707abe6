import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { Bell } from '#server/work/bell.ts'

const log = logger('tasks')

/**
 * A task is an idempotent reconciler: it takes no input, compares what should be with what is, and closes the
 * difference. It runs every `everyMs` and when woken; wakes during a run collapse into one more run.
 */
export interface Task {
  name: string
  everyMs: number
  run(signal: AbortSignal): Promise<void>
}

/** A run that waits for the engine or a disk may take longer; the process ends anyway. */
const STOP_WITHIN_MS = 2_000

interface Running {
  wake: () => void
  done: Promise<void>
}

/** Runs tasks concurrently until it is stopped, with at most one run of each task at a time. */
export class Driver {
  readonly #stop = new AbortController()
  readonly #tasks = new Map<string, Running>()

  /** Starts a task; its first run begins at once. */
  start(task: Task): void {
    const wakeUp = new WakeUp()
    this.#tasks.set(task.name, { wake: () => wakeUp.ring(), done: this.#loop(task, wakeUp) })
  }

  /** Runs a task as soon as its current run, if any, has ended. */
  wake(name: string): void {
    this.#tasks.get(name)?.wake()
  }

  /** Aborts every task and waits briefly for their current runs; not longer, since each can be run again. */
  async stop(): Promise<void> {
    this.#stop.abort()
    for (const { wake } of this.#tasks.values()) wake()
    const ended = Promise.all([...this.#tasks.values()].map(({ done }) => done))
    await Promise.race([ended, delay(STOP_WITHIN_MS, undefined, { ref: false })])
  }

  async #loop(task: Task, wakeUp: WakeUp): Promise<void> {
    const { signal } = this.#stop
    let lastError: string | null = null
    while (!signal.aborted) {
      try {
        await task.run(signal)
        if (lastError !== null) log.info(`${task.name} works again`)
        lastError = null
      } catch (error) {
        // Do not log the same error every period.
        if (!signal.aborted && messageOf(error) !== lastError) {
          lastError = messageOf(error)
          log.error(`${task.name} failed`, {
            error: lastError,
            stack: (error as Error).stack?.split('\n').slice(1, 6).join(' '),
          })
        }
      }
      await wakeUp.wait(task.everyMs)
    }
  }
}

/** Ends a wait early; a ring while nobody waits ends the next wait at once. */
class WakeUp {
  readonly #bell = new Bell()
  #isRung = false

  ring(): void {
    this.#isRung = true
    this.#bell.ring()
  }

  async wait(milliseconds: number): Promise<void> {
    if (!this.#isRung) {
      // An AbortSignal.timeout could not be cleared: each early ring would leave a timer behind.
      const timeout = new AbortController()
      const timer = setTimeout(() => timeout.abort(), milliseconds)
      await this.#bell.wait(timeout.signal)
      clearTimeout(timer)
    }
    this.#isRung = false
  }
}

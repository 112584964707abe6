import type { LogLine } from '#server/logs/lines.ts'
import type { DeployStep } from '#server/logs/steps.ts'
import type { Api } from '../api.ts'
import { acrossCuts, type Following, type Reading } from './cuts.ts'
import type { Sink } from './sink.ts'

/** Takes the lines of a deploy or a job and, where a deploy has them, its steps when they begin and when they have ended. */
export type RunSink = Omit<Sink<LogLine>, 'skipped'> & { step?: (step: DeployStep) => void }

/** The log of a deploy or a job: it only grows, and has an end. */
export interface RunLog<T> {
  /** Of the deploy or the job itself. */
  path: string
  /** Whether to wait for further lines until the end. */
  follows: boolean
  isOver: (run: T) => boolean
}

/**
 * Reads the log of a deploy or a job, each line once: after a cut it is read again from the first line, and as many lines are
 * passed over as came before. Resolves at its end with the deploy or the job as it is then. Throws as `acrossCuts` does.
 */
export function readRunLog<T>(
  api: Api,
  { path, follows, isOver }: RunLog<T>,
  following: Following,
  sink: RunSink,
): Promise<T> {
  /** How many lines and steps have come. */
  let count = 0

  const state = ({ signal, isOnce }: Reading['options']): Promise<T> =>
    api.get<T>(path, {}, { isOnce: isOnce ?? false, ...(signal ? { signal } : {}) })

  async function read({ options, isAgain, progressed }: Reading): Promise<T> {
    // Asked before the log is read: what is over by then has written its last line.
    const before = isAgain ? await state(options) : null
    const known = count
    let seen = 0
    try {
      await api.events(`${path}/logs`, { follow: follows || null }, options, {
        take(event, data) {
          if ((event !== 'log' && event !== 'step') || ++seen <= count) return
          count++
          progressed()
          if (event === 'log') sink.line(data as LogLine)
          else sink.step?.(data as DeployStep)
        },
        flush: () => sink.flush(),
      })
    } catch (error) {
      const isComplete = before !== null && isOver(before) && seen >= known && count === known
      if (!isComplete) throw error
      return before
    }
    return state(options)
  }

  return acrossCuts(following, read)
}

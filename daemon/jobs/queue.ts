import { setTimeout as delay } from 'node:timers/promises'
import { onChange } from '#server/changes.ts'
import { useContext } from '#server/context.ts'
import { announceJob } from '#server/jobs/operations.ts'
import { jobsInProgress, jobStatus, type JobFacts } from '#server/jobs/store.ts'
import { nudgeLog } from '#server/logs/files.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import type { AbortReason } from '../work/abort-reason.ts'
import type { Task } from '../work/driver.ts'
import type { World } from '../world.ts'
import { runJob } from './run.ts'

const log = logger('jobs')

/** Interval of a pass without a wake, for changes that were made while the server was down. */
const PERIOD_MS = 10_000

/** A run that waits for the engine may take longer; the process exits anyway. */
const STOP_WITHIN_MS = 4_000

interface Run {
  job: JobFacts
  abort: AbortController
  done: Promise<void>
}

/** All running jobs of the server by id; the removal of a service waits for its own. */
const runs = new Map<string, Run>()

/** Waits until no job of a service is running, so that the containers of canceled jobs are gone. */
export async function jobsDone(serviceId: string): Promise<void> {
  const own = [...runs.values()].filter(({ job }) => job.service_id === serviceId)
  await Promise.all(own.map(({ done }) => done))
}

/**
 * Starts jobs in the order they were queued, within `--job-concurrency`; a cron job's own command runs once at a time.
 * While the engine does not answer, jobs stay pending. Jobs that were running when the server stopped are followed again.
 */
export class JobQueue {
  readonly #world: World
  readonly #stopListening: () => void
  #stopped = false
  #wake: () => void = () => {}

  constructor(world: World) {
    this.#world = world
    this.#stopListening = onChange(({ kind, id }) => {
      if (kind !== 'job') return
      nudgeLog(id)
      if (jobStatus(id) === 'canceled') runs.get(id)?.abort.abort('canceled' satisfies AbortReason)
      this.#wake()
    })
  }

  /** Returns the task for a driver; `wake` requests its next run. */
  task(wake: () => void): Task {
    this.#wake = wake
    return { name: 'jobs', everyMs: PERIOD_MS, run: () => this.#startReady() }
  }

  /** Stops following running jobs but keeps their containers and records, so that the next start continues. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#stopListening()
    for (const { abort } of runs.values()) abort.abort('stopping' satisfies AbortReason)
    const ended = Promise.all([...runs.values()].map(({ done }) => done))
    await Promise.race([ended, delay(STOP_WITHIN_MS, undefined, { ref: false })])
  }

  async #startReady(): Promise<void> {
    if (jobsInProgress().every(({ id }) => runs.has(id))) return
    const { engine, engineFault, reachByAddress } = this.#world
    // How to reach containers is known once the engine has answered, which wakes this task.
    if (reachByAddress === null || engineFault !== null) return
    // The event that it is gone arrives a moment later.
    if (!(await engine.answers()) || this.#stopped) return
    for (const job of jobsInProgress()) {
      if (!runs.has(job.id) && !isBlocked(job)) this.#start(job)
    }
  }

  #start(job: JobFacts): void {
    const { id, service_id, trigger } = job
    const abort = new AbortController()
    log.info('job starts', { id, service: service_id, trigger })
    const run = async (): Promise<void> => {
      try {
        await runJob(this.#world, id, abort.signal)
        runs.delete(id)
        announceJob(id, service_id)
        this.#wake()
      } catch (error) {
        // Not even its end could be recorded, for example on a full disk: the next pass tries again.
        runs.delete(id)
        log.error('a job could not be recorded', { id, error: messageOf(error) })
      }
    }
    runs.set(id, { job, abort, done: run() })
  }
}

function isBlocked(job: JobFacts): boolean {
  // It has a slot already: its container is running.
  if (job.status === 'running') return false
  if (runs.size >= useContext().options.jobConcurrency) return true
  const isOwnRun = (other: JobFacts) => other.own_command === 1 && other.service_id === job.service_id
  return isOwnRun(job) && [...runs.values()].some((run) => isOwnRun(run.job))
}

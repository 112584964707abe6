import { setTimeout as delay } from 'node:timers/promises'
import { onChange } from '#server/changes.ts'
import { useContext } from '#server/context.ts'
import { tellJob } from '#server/jobs/operations.ts'
import { jobsInProgress, jobStatus, type JobFacts } from '#server/jobs/store.ts'
import { nudgeLog } from '#server/logs/files.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import type { AbortReason } from '../work/abort-reason.ts'
import type { Task } from '../work/driver.ts'
import type { World } from '../world.ts'
import { runJob } from './run.ts'

const log = logger('jobs')

/** A look even without a wake, for a change that was told while the server was down. */
const PERIOD_MS = 10_000

/** A run that waits for the engine may take longer; the process ends all the same. */
const STOP_WITHIN_MS = 4_000

interface Run {
  job: JobFacts
  abort: AbortController
  done: Promise<void>
}

/** The runs under way by job: of the whole server, as the removal of a service waits for those of its own. */
const runs = new Map<string, Run>()

/** Waits until no job of a service runs any more, so that the containers of those that were canceled are gone. */
export async function jobsGone(serviceId: string): Promise<void> {
  const own = [...runs.values()].filter(({ job }) => job.service_id === serviceId)
  await Promise.all(own.map(({ done }) => done))
}

/**
 * Starts jobs in the order they were queued, within `--job-concurrency`; of a cron job's own command one at a time.
 * While the engine does not answer, jobs stay pending. Those that ran when the server ended are followed further.
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

  /** The task to hand to a driver; `wake` is how the queue asks for its next run. */
  task(wake: () => void): Task {
    this.#wake = wake
    return { name: 'jobs', everyMs: PERIOD_MS, run: () => this.#startWhatCan() }
  }

  /** Stops following what runs, leaving its container and its record so that the next start takes it up. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#stopListening()
    for (const { abort } of runs.values()) abort.abort('stopping' satisfies AbortReason)
    const ended = Promise.all([...runs.values()].map(({ done }) => done))
    await Promise.race([ended, delay(STOP_WITHIN_MS, undefined, { ref: false })])
  }

  async #startWhatCan(): Promise<void> {
    if (jobsInProgress().every(({ id }) => runs.has(id))) return
    const { engine, engineFault, reachByAddress } = this.#world
    // How containers are reached is known once the engine has answered; that wakes this task.
    if (reachByAddress === null || engineFault !== null) return
    // That it is gone is heard a moment later.
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
        tellJob(id, service_id)
        this.#wake()
      } catch (error) {
        // As with a full disk, where not even its end can be recorded: the next period looks at it again.
        runs.delete(id)
        log.error('a job could not be recorded', { id, error: messageOf(error) })
      }
    }
    runs.set(id, { job, abort, done: run() })
  }
}

function isBlocked(job: JobFacts): boolean {
  // It holds a slot already: its container runs.
  if (job.status === 'running') return false
  if (runs.size >= useContext().options.jobConcurrency) return true
  const isOwnRun = (other: JobFacts) => other.own_command === 1 && other.service_id === job.service_id
  return isOwnRun(job) && [...runs.values()].some((run) => isOwnRun(run.job))
}

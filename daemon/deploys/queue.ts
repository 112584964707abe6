import { setTimeout as delay } from 'node:timers/promises'
import { onChange } from '#server/changes.ts'
import { deploysInProgress, getDeploy, type DeployRow } from '#server/deploys/store.ts'
import { messageOf } from '#server/errors.ts'
import { nudgeLog, openLog } from '#server/logs/files.ts'
import { logger } from '#server/log.ts'
import type { Task } from '../work/driver.ts'
import type { World } from '../world.ts'
import type { AbortReason } from '../work/abort-reason.ts'
import { withRoom } from './disk-room.ts'
import { runDeploy } from './runner.ts'
import { runs } from './runs.ts'

const log = logger('deploys')

/** Interval of a pass without a wake, for changes that were made while the server was down. */
const PERIOD_MS = 10_000

/** A run that waits for the engine may take longer; the process exits anyway. */
const STOP_WITHIN_MS = 4_000

/**
 * Starts deploys in the order they were queued, one of a service at a time; builds wait for a slot themselves. While the
 * engine does not answer, deploys stay queued. Each waiting deploy logs why it waits.
 */
export class DeployQueue {
  readonly #world: World
  readonly #waits = new WaitLog()
  readonly #stopListening: () => void
  #wake: () => void = () => {}

  constructor(world: World) {
    this.#world = world
    this.#stopListening = onChange(({ kind, id }) => {
      if (kind !== 'deploy') return
      nudgeLog(id)
      if (getDeploy(id)?.status === 'canceled') runs.get(id)?.abort.abort('canceled' satisfies AbortReason)
      this.#wake()
    })
  }

  /** Returns the task for a driver; `wake` requests its next run. */
  task(wake: () => void): Task {
    this.#wake = wake
    return { name: 'deploys', everyMs: PERIOD_MS, run: () => this.#startReady() }
  }

  /** Stops running deploys but keeps their records, so that the next start continues them. */
  async stop(): Promise<void> {
    this.#stopListening()
    for (const { abort } of runs.values()) abort.abort('stopping' satisfies AbortReason)
    const ended = Promise.all([...runs.values()].map(({ done }) => done))
    await Promise.race([ended, delay(STOP_WITHIN_MS, undefined, { ref: false })])
  }

  async #startReady(): Promise<void> {
    const queued = deploysInProgress().filter(({ id }) => !runs.has(id))
    this.#waits.keepOnly(queued)
    const waiting = await this.#withRoom(queued)
    if (waiting.length === 0) return
    // How to reach containers is known once the engine has answered, which wakes this task.
    const { engine, engineFault, reachByAddress } = this.#world
    const hasAnswered = reachByAddress !== null
    if (!hasAnswered || !(await engine.answers())) {
      // Right after the start it has not been asked yet.
      if (hasAnswered || engineFault !== null)
        for (const deploy of waiting)
          this.#waits.say(deploy, 'waiting for the container engine, which does not answer')
      return
    }
    for (const deploy of waiting) {
      const other = runningDeployOf(deploy)
      if (other === undefined) this.#start(deploy)
      else this.#waits.say(deploy, `waiting for ${other.id} of this service to finish`)
    }
  }

  /** The deploys that need not wait for room on the disk; the others log that they do. */
  async #withRoom(queued: readonly DeployRow[]): Promise<DeployRow[]> {
    const { ready, held, reason } = await withRoom(this.#world, queued)
    for (const deploy of held) this.#waits.say(deploy, reason)
    return ready
  }

  #start(deploy: DeployRow): void {
    const abort = new AbortController()
    log.info('deploy starts', { id: deploy.id, service: deploy.service_id, trigger: deploy.trigger })
    const run = async (): Promise<void> => {
      try {
        await runDeploy(this.#world, deploy.id, abort.signal)
        log.info('deploy ended', { id: deploy.id, status: getDeploy(deploy.id)?.status ?? 'removed' })
        runs.delete(deploy.id)
        this.#wake()
      } catch (error) {
        // Not even the failure could be recorded, for example on a full disk: the next pass tries again.
        runs.delete(deploy.id)
        log.error('a deploy could not be recorded', { id: deploy.id, error: messageOf(error) })
      }
    }
    const done = run()
    runs.set(deploy.id, { deploy, abort, done })
    log.debug('deploys in progress', { count: runs.size, waiting: deploysInProgress().length - runs.size })
  }
}

/** Returns the running deploy of the same service. */
function runningDeployOf({ service_id }: DeployRow): DeployRow | undefined {
  return [...runs.values()].map(({ deploy }) => deploy).find((other) => other.service_id === service_id)
}

/** Logs what each deploy that has not started waits for, once per reason. */
class WaitLog {
  readonly #logged = new Map<string, string>()

  say({ id }: DeployRow, what: string): void {
    if (this.#logged.get(id) === what) return
    this.#logged.set(id, what)
    const deployLog = openLog(id)
    deployLog.system(what)
    deployLog
      .close()
      .catch((error: unknown) =>
        log.error('a deploy log could not be written', { id, error: messageOf(error) }),
      )
  }

  /** Forgets deploys that no longer wait. */
  keepOnly(waiting: readonly DeployRow[]): void {
    const ids = new Set(waiting.map(({ id }) => id))
    for (const id of this.#logged.keys()) if (!ids.has(id)) this.#logged.delete(id)
  }
}

import { announceService } from '#server/changes.ts'
import { messageOf } from '#server/errors.ts'
import { getInstance, type InstanceRow } from '#server/instances/store.ts'
import { logger } from '#server/log.ts'
import { Background } from '../work/background.ts'
import { CrashHistory } from '../work/crashes.ts'
import type { World } from '../world.ts'
import { drainMsOf, removeInstance, stopSecondsOf } from './containers.ts'
import { waitAfterRotation } from './rotation.ts'

const log = logger('instances')

/** What drains need of the upkeep of instances. */
interface Upkept {
  /** Ends the work on an instance. */
  cancel(instanceId: string): Promise<void>
  /** Forgets what is known of an instance that is gone. */
  forget(instanceId: string): void
  /** Requests another pass over a service. */
  look(serviceId: string): void
}

/** Removes instances that left rotation, each once its requests are done. */
export class Drains {
  readonly #world: World
  readonly #upkept: Upkept
  readonly #background = new Background()
  readonly #failures = new CrashHistory()

  constructor(world: World, upkept: Upkept) {
    this.#world = world
    this.#upkept = upkept
  }

  /** Lets an instance finish its requests, then stops and removes it. */
  start({ id, service_id }: InstanceRow): void {
    this.#background.start({
      key: id,
      pauseMs: this.#failures.backOffMs(id),
      run: async (signal) => {
        await this.#upkept.cancel(id)
        await this.#drain(id, signal)
        this.#failures.forget(id)
      },
      onFailure: (error) => {
        this.#failures.record(id)
        log.warn('an instance could not be removed', { instance: id, error: messageOf(error) })
      },
      onEnd: () => this.#upkept.look(service_id),
    })
  }

  cancel(instanceId: string): Promise<void> {
    return this.#background.cancel(instanceId)
  }

  stop(): void {
    this.#background.stop()
  }

  async #drain(id: string, signal: AbortSignal): Promise<void> {
    const instance = getInstance(id)
    if (!instance) return
    await this.#world.dataPlane.sync()
    await this.#world.dataPlane.drain(id, drainMsOf(instance))
    await waitAfterRotation(instance, signal)
    signal.throwIfAborted()
    await removeInstance(this.#world, instance, stopSecondsOf(instance))
    this.#upkept.forget(id)
    announceService(instance.service_id)
  }
}

import { setTimeout as delay } from 'node:timers/promises'
import { getDatastore, type DatastoreRow } from '#server/datastores/store.ts'
import { CrashHistory } from '../work/crashes.ts'

/** A wait before failed work is tried again. */
interface Pause {
  /** The generation of the desired state when it began. */
  generation: number
  end: () => void
}

/** The waits before failed work on datastores is tried again, which grow with the failures. */
export class Pauses {
  readonly failures = new CrashHistory()
  readonly #pauses = new Map<string, Pause>()

  /** Waits as long as the recent failures say; ends early if the desired state changes. Throws the signal's reason. */
  async wait(id: string, signal: AbortSignal): Promise<void> {
    const wait = new AbortController()
    this.#pauses.set(id, { generation: getDatastore(id)?.generation ?? 0, end: () => wait.abort() })
    try {
      const either = AbortSignal.any([signal, wait.signal])
      await delay(this.failures.backOffMs(id), undefined, { signal: either })
    } catch (error) {
      if (!wait.signal.aborted) throw error
    } finally {
      this.#pauses.delete(id)
    }
  }

  /** Ends the wait of a datastore whose desired state has changed since it began. */
  endIfChanged({ id, generation }: DatastoreRow): void {
    const pause = this.#pauses.get(id)
    if (pause && pause.generation !== generation) this.#cutShort(id, pause)
  }

  /** Ends all waits: what failed because the engine was away needs no back-off. */
  endAll(): void {
    for (const [id, pause] of this.#pauses) this.#cutShort(id, pause)
  }

  #cutShort(id: string, pause: Pause): void {
    this.failures.forget(id)
    pause.end()
  }
}

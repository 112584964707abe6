import { onChange, type Change } from '#server/changes.ts'
import { messageOf } from '#server/errors.ts'
import type { Logger } from '#server/log.ts'
import { Background } from '../work/background.ts'
import type { Task } from '../work/driver.ts'
import type { World } from '../world.ts'
import { acrossDepartures, limitedTry } from './tries.ts'

const PERIOD_MS = 60_000
/** An error is a message for people, not a log. */
const MAX_ERROR_CHARACTERS = 4 * 1024

/** What a replacement ends with that was canceled, which is recorded already. */
export class ReplacementCanceled extends Error {
  override readonly name = 'ReplacementCanceled'
}

/** How the data of services or datastores is replaced. `Row` is a replacement as it is recorded. */
export interface Replacements<Row extends { tries: number }> {
  /** The name of their task. */
  task: string
  log: Logger
  /** The field of the log that has the id. */
  of: 'service' | 'datastore'
  /** What a log says of one: `a disk was` [`not`] `restored`. */
  words: [subject: string, verb: string]
  /** Whether there may be one to begin after a change. */
  mayFollow(change: Change): boolean
  /** The ids of the services or datastores of which one is to be done. */
  due(): string[]
  /** The nodes whose engines it needs. */
  nodesOf(id: string): string[]
  /** Records that a try begins, on new empty volumes. */
  beginTry(id: string): Row
  /** Takes one try back from each that was begun. */
  takeBackTries(): void
  /** Surrounds all tries, with a signal that also fires when it is canceled. */
  surround?(id: string, signal: AbortSignal, tries: (signal: AbortSignal) => Promise<void>): Promise<void>
  replace(row: Row, signal: AbortSignal): Promise<void>
  /** Records the reason for which it is given up. */
  giveUp(id: string, reason: string): void
  /** Called when it waits for an engine, and once its result is recorded. */
  release?(id: string): void
}

/**
 * Replaces data in the background: restores, upgrades and moves. Each is recorded, and starts over after a stop of the server
 * or of an engine, on new empty volumes; a half-filled one is discarded.
 */
export class ReplacementWork<Row extends { tries: number }> {
  readonly #world: World
  readonly #kind: Replacements<Row>
  readonly #background = new Background()
  readonly #stopListening: () => void
  #wake: () => void = () => {}

  constructor(world: World, kind: Replacements<Row>) {
    this.#world = world
    this.#kind = kind
    this.#stopListening = onChange((change) => {
      if (kind.mayFollow(change)) this.#wake()
    })
  }

  /** Continues what the last run of the server left. If the server did not crash, that try does not count. */
  recover(hasCrashed: boolean): void {
    if (!hasCrashed) this.#kind.takeBackTries()
  }

  /** Returns the task for a driver; `wake` requests its next run. */
  task(wake: () => void): Task {
    this.#wake = wake
    return {
      name: this.#kind.task,
      everyMs: PERIOD_MS,
      run: async () => {
        if (this.#world.reachByAddress === null) return
        for (const id of this.#kind.due()) this.#begin(id)
        await Promise.resolve()
      },
    }
  }

  /** Requests a pass soon, for example after the engine came back. */
  look(): void {
    this.#wake()
  }

  /** Whether that of a service or datastore is in progress. */
  has(id: string): boolean {
    return this.#background.has(id)
  }

  /** Cancels that of a service or datastore that is being deleted, and waits until it has ended. */
  async cancel(id: string): Promise<void> {
    await this.#background.cancel(id)
  }

  stop(): void {
    this.#stopListening()
    this.#background.stop()
  }

  #begin(id: string): void {
    const kind = this.#kind
    this.#background.start({
      key: id,
      pauseMs: 0,
      run: (signal) => this.#run(id, signal),
      onFailure: (error) => {
        if (error instanceof ReplacementCanceled) return
        const reason = messageOf(error).slice(0, MAX_ERROR_CHARACTERS)
        kind.giveUp(id, reason)
        kind.log.warn(kind.words.join(' not '), { [kind.of]: id, error: reason })
      },
      onEnd: () => {
        kind.release?.(id)
        this.#wake()
      },
    })
  }

  /** Starts over when the engines are back, if one went away in between. */
  #run(id: string, stop: AbortSignal): Promise<void> {
    const kind = this.#kind
    const run = (signal: AbortSignal): Promise<void> =>
      acrossDepartures(
        this.#world,
        kind.nodesOf(id),
        signal,
        () => {
          const row = kind.beginTry(id)
          return limitedTry(row.tries, signal, (either) => kind.replace(row, either))
        },
        (error) => {
          kind.release?.(id)
          const [subject, verb] = kind.words
          kind.log.warn(`an engine went away while ${subject} being ${verb}; starting over`, {
            [kind.of]: id,
            error: messageOf(error),
          })
        },
      )
    return kind.surround ? kind.surround(id, stop, run) : run(stop)
  }
}

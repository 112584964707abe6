import { setTimeout as delay } from 'node:timers/promises'
import { getInstance } from '#server/instances/store.ts'
import type { LogWriter } from '#server/logs/files.ts'
import { followContainer } from '../logs/follow.ts'
import { answers } from '../nodes/presence.ts'
import type { World } from '../world.ts'

/** Lines of the program's own output in the error of a failed deploy. */
const ERROR_LINES = 20
/** How long the output from before a program was ready may take to arrive. */
const FIRST_LINES_MS = 1_000

/** The output of a deploy's new instances, which is copied into its log until the deploy ends. */
export class CopiedOutput {
  /** The end of it, for the error of a failed deploy. */
  readonly lastLines: string[] = []
  readonly #world: World
  readonly #log: LogWriter
  readonly #ended = new AbortController()
  readonly #caughtUp: Promise<void>[] = []

  constructor(world: World, log: LogWriter) {
    this.#world = world
    this.#log = log
  }

  /** Copies the output of an instance from now on, in the background. */
  follow(id: string): void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#caughtUp.push(promise)
    void this.#copy(id, resolve)
  }

  /** Waits, but not for long, until the log has what the programs have printed: one may be ready sooner than that is read. */
  async caughtUp(): Promise<void> {
    const patience = delay(FIRST_LINES_MS, undefined, { signal: this.#ended.signal }).catch(() => {})
    await Promise.race([Promise.all(this.#caughtUp), patience])
  }

  end(): void {
    this.#ended.abort()
  }

  async #copy(id: string, onLive: () => void): Promise<void> {
    const nodeId = getInstance(id)?.node_id
    if (nodeId === undefined || !answers(this.#world, nodeId)) return onLive()
    const engine = this.#world.engineOf(nodeId)
    for await (const line of followContainer(engine, id, { signal: this.#ended.signal, onLive })) {
      this.#log.write(line)
      this.lastLines.push(line.line)
      if (this.lastLines.length > ERROR_LINES) this.lastLines.shift()
    }
  }
}

import type Docker from 'dockerode'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '#server/errors.ts'
import type { Connection } from './connection.ts'
import { KILLED, OOM_TOLD_MS } from './container-state.ts'
import { isLabelled } from './labels.ts'
import type { Ledger } from './ledger.ts'

/** Finds containers by the names under which this server recorded them. */
export class ContainerFinder {
  readonly #connection: Connection
  readonly #serverId: string
  readonly #ledger: Ledger

  constructor(connection: Connection, serverId: string, ledger: Ledger) {
    this.#connection = connection
    this.#serverId = serverId
    this.#ledger = ledger
  }

  /** What the engine is asked by: the id that was recorded, since a name can be given to another container. */
  idOf(name: string): string {
    return this.#ledger.find('container', name)?.engine_id ?? name
  }

  /** A container by name or id; null when there is none. */
  async find(name: string): Promise<Docker.ContainerInspectInfo | null> {
    const recorded = this.idOf(name)
    const found = await this.#look(recorded)
    if (found || recorded === name) return found
    // Made anew under its name since the data was copied that this server was restored from.
    const anew = await this.#look(name)
    if (!anew || !isLabelled(this.#serverId, anew.Config.Labels)) return null
    this.#ledger.record('container', name, anew.Id)
    return anew
  }

  #look(nameOrId: string): Promise<Docker.ContainerInspectInfo | null> {
    return this.#connection.find(`looking at the container ${nameOrId}`, (docker, abortSignal) =>
      docker.getContainer(nameOrId).inspect({ abortSignal } as Docker.ContainerInspectOptions),
    )
  }

  /** A look that knows why a killed program was killed: the engine may tell of its end a moment before. */
  async findSettled(name: string): Promise<Docker.ContainerInspectInfo | null> {
    for (;;) {
      const found = await this.find(name)
      if (!found || found.State.Running || found.State.OOMKilled || found.State.ExitCode !== KILLED)
        return found
      const endedMs = Date.now() - Date.parse(found.State.FinishedAt)
      if (!(endedMs >= 0 && endedMs < OOM_TOLD_MS)) return found
      await delay(OOM_TOLD_MS - endedMs)
    }
  }

  /** Null when it is not there. Throws when it is not recorded as this server's. */
  async findOwn(name: string): Promise<Docker.ContainerInspectInfo | null> {
    const found = await this.find(name)
    const recorded = this.#ledger.find('container', name)
    // One without an id was made just before the server was killed, if at all.
    const isOwn =
      recorded && (recorded.engine_id !== null || isLabelled(this.#serverId, found?.Config.Labels))
    if (found && !isOwn) {
      throw new AppError(
        'runtime_error',
        `the container ${name} was not made by this server and is left alone`,
      )
    }
    return found
  }
}

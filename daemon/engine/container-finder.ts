import type Docker from 'dockerode'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '#server/errors.ts'
import type { Connection } from './connection.ts'
import { KILLED, OOM_REPORTED_MS } from './container-state.ts'
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

  /** The recorded id if there is one, since the name may have been given to another container. */
  idOf(name: string): string {
    return this.#ledger.find('container', name)?.engine_id ?? name
  }

  /** A container by name or id; null when there is none. */
  async find(name: string): Promise<Docker.ContainerInspectInfo | null> {
    const recorded = this.idOf(name)
    const found = await this.#look(recorded)
    if (found || recorded === name) return found
    // If this server was restored from older data, the container may have been created again since, under the same name.
    const newer = await this.#look(name)
    if (!newer || !isLabelled(this.#serverId, newer.Config.Labels)) return null
    this.#ledger.record('container', name, newer.Id)
    return newer
  }

  #look(nameOrId: string): Promise<Docker.ContainerInspectInfo | null> {
    return this.#connection.find(`inspecting the container ${nameOrId}`, (docker, abortSignal) =>
      docker.getContainer(nameOrId).inspect({ abortSignal } as Docker.ContainerInspectOptions),
    )
  }

  /** Like `find`, but waits until the engine knows why a program was killed, which it may learn a moment after its end. */
  async findSettled(name: string): Promise<Docker.ContainerInspectInfo | null> {
    for (;;) {
      const found = await this.find(name)
      if (!found || found.State.Running || found.State.OOMKilled || found.State.ExitCode !== KILLED)
        return found
      const endedMs = Date.now() - Date.parse(found.State.FinishedAt)
      if (!(endedMs >= 0 && endedMs < OOM_REPORTED_MS)) return found
      await delay(OOM_REPORTED_MS - endedMs)
    }
  }

  /** Null when it does not exist. Throws when it is not recorded as this server's. */
  async findOwn(name: string): Promise<Docker.ContainerInspectInfo | null> {
    const found = await this.find(name)
    const recorded = this.#ledger.find('container', name)
    // A record without an id means that the server was killed while it created the container.
    const isOwn =
      recorded && (recorded.engine_id !== null || isLabelled(this.#serverId, found?.Config.Labels))
    if (found && !isOwn) {
      throw new AppError(
        'runtime_error',
        `the container ${name} was not created by this server and is left alone`,
      )
    }
    return found
  }
}

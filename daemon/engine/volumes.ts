import { AppError } from '#server/errors.ts'
import type { Connection } from './connection.ts'
import { statusOf } from './faults.ts'
import { ownLabels } from './labels.ts'
import type { Ledger } from './ledger.ts'

export interface VolumeState {
  name: string
  labels: Record<string, string>
}

/** The engine's named volumes. */
export class Volumes {
  readonly #connection: Connection
  readonly #serverId: string
  readonly #ledger: Ledger

  constructor(connection: Connection, serverId: string, ledger: Ledger) {
    this.#connection = connection
    this.#serverId = serverId
    this.#ledger = ledger
  }

  /** Creates a volume; an existing one with this name stays as it is. Throws `runtime_error`. */
  async create(name: string, labels: Record<string, string>): Promise<void> {
    this.#ledger.record('volume', name)
    await this.#connection.call(`creating the volume ${name}`, (docker, abortSignal) =>
      docker.createVolume({ Name: name, Labels: ownLabels(this.#serverId, labels), abortSignal }),
    )
  }

  /** A volume by name; null when there is none. */
  async inspect(name: string): Promise<VolumeState | null> {
    const found = await this.#connection.find(`inspecting the volume ${name}`, (docker, abortSignal) =>
      docker.getVolume(name).inspect({ abortSignal }),
    )
    return found && { name: found.Name, labels: found.Labels ?? {} }
  }

  /** Removes one of this server's volumes and its content, if it exists. Throws `runtime_error` while it is in use. */
  async remove(name: string): Promise<void> {
    const found = await this.inspect(name)
    if (!found) return this.#ledger.forget('volume', name)
    if (!this.#ledger.find('volume', name)) {
      throw new AppError(
        'runtime_error',
        `the volume ${name} was not created by this server and is left alone`,
      )
    }
    await this.#connection.call(`removing the volume ${name}`, async (docker, abortSignal) => {
      try {
        await docker.getVolume(name).remove({ abortSignal })
      } catch (error) {
        if (statusOf(error) !== 404) throw error
      }
    })
    this.#ledger.forget('volume', name)
  }
}

import type Docker from 'dockerode'
import { Readable } from 'node:stream'
import { logger } from '#server/log.ts'
import type { Connection } from './connection.ts'
import { engineMessage, statusOf } from './faults.ts'
import { ownLabels } from './labels.ts'
import type { Ledger } from './ledger.ts'

const log = logger('engine')

/** What an engine supports for containers, which depends on its host. */
export interface Abilities {
  /** How many files a container's process may have open; null leaves the engine's own limit. */
  openFiles: number | null
  /** Whether the amount that a container writes outside its disk can be limited. */
  quota: boolean
  /** How many CPUs its host has. */
  cpuCount: number
}

/**
 * Enough for a busy server, but few enough for programs that loop over all descriptors. An engine that may not raise its own
 * limit gets the lower value.
 */
const OPEN_FILES = [65_536, 16_384]
/** How much a container may write outside its disk. */
export const QUOTA = { size: '10G' }
/** The end of a tar file, which is all that an empty one consists of (POSIX.1, pax). */
const EMPTY_TAR = Buffer.alloc(1_024)
const MEMORY_BYTES = 16 * 1024 ** 2

/** The statuses with which an engine refuses a setting when a container is created or started. */
const REFUSALS = [400, 500]

/** The name of the empty image that a server's trials use. */
export function trialImage(serverId: string): string {
  return `deployer-${serverId}/empty:trial`
}

/** Creates an image with nothing in it. Throws `runtime_error`. */
export async function importEmpty(connection: Connection, name: string): Promise<void> {
  const [repo, tag] = name.split(':')
  await connection.call('creating an empty image', async (docker) => {
    const answer = await docker.importImage(Readable.from([EMPTY_TAR]), { repo, tag })
    for await (const _ of answer as AsyncIterable<Buffer>);
  })
}

/** Finds out once what the engine supports, with a container of an empty image whose program does not exist. */
export class AbilityTrial {
  readonly #connection: Connection
  readonly #serverId: string
  readonly #ledger: Ledger
  #found: Promise<Abilities> | null = null

  constructor(connection: Connection, serverId: string, ledger: Ledger) {
    this.#connection = connection
    this.#serverId = serverId
    this.#ledger = ledger
  }

  /**
   * What the engine supports. Throws `runtime_error` when that cannot be found out now; the next call tries again, so that
   * nothing runs without its limits because of a temporary error.
   */
  known(): Promise<Abilities> {
    this.#found ??= this.#find().catch((error: unknown) => {
      this.#found = null
      throw error
    })
    return this.#found
  }

  async #find(): Promise<Abilities> {
    const image = trialImage(this.#serverId)
    const name = `deployer-trial-${this.#serverId}`
    // A killed server may have left them.
    await this.#removeContainer(name)
    await this.#removeImage(image)
    try {
      this.#ledger.record('image', image)
      await importEmpty(this.#connection, image)
      const cpuCount = await this.#countCpus()
      const quota = await this.#tries(name, image, { StorageOpt: QUOTA })
      for (const openFiles of OPEN_FILES) {
        if (await this.#tries(name, image, { Ulimits: ulimitsOf(openFiles) }))
          return logged({ openFiles, quota, cpuCount })
      }
      return logged({ openFiles: null, quota, cpuCount })
    } finally {
      await this.#removeImage(image)
    }
  }

  async #countCpus(): Promise<number> {
    const { NCPU } = await this.#connection.call(
      'asking about the host',
      (docker, abortSignal) => docker.info({ abortSignal } as never) as unknown as Promise<{ NCPU: number }>,
    )
    return NCPU
  }

  /** Whether a container with these settings starts. */
  async #tries(name: string, image: string, settings: Docker.HostConfig): Promise<boolean> {
    this.#ledger.record('container', name)
    try {
      return await this.#connection.call('testing engine features', async (docker, abortSignal) => {
        try {
          const container = await docker.createContainer({
            name,
            Image: image,
            Labels: ownLabels(this.#serverId, { 'deployer.kind': 'trial' }),
            Entrypoint: ['/nothing'],
            HostConfig: { Init: true, NetworkMode: 'none', Memory: MEMORY_BYTES, ...settings },
            abortSignal,
          })
          await container.start({ abortSignal })
          return true
        } catch (error) {
          if (!REFUSALS.includes(statusOf(error) ?? 0)) throw error
          log.debug('the engine does not support a setting', { settings, error: engineMessage(error) })
          return false
        }
      })
    } finally {
      await this.#removeContainer(name)
    }
  }

  async #removeContainer(name: string): Promise<void> {
    if (!this.#ledger.find('container', name)) return
    await this.#connection.find('removing a trial', (docker, abortSignal) =>
      docker.getContainer(name).remove({ force: true, abortSignal }),
    )
    this.#ledger.forget('container', name)
  }

  async #removeImage(image: string): Promise<void> {
    if (!this.#ledger.find('image', image)) return
    await this.#connection.find('removing an empty image', (docker, abortSignal) =>
      docker.getImage(image).remove({ abortSignal } as Docker.ImageRemoveOptions),
    )
    this.#ledger.forget('image', image)
  }
}

/** The engine's form of a limit of open files. */
export function ulimitsOf(openFiles: number | null): Docker.HostConfig['Ulimits'] {
  return openFiles === null ? undefined : [{ Name: 'nofile', Soft: openFiles, Hard: openFiles }]
}

function logged(abilities: Abilities): Abilities {
  log.info('limits that the engine supports for containers', {
    open_files: abilities.openFiles ?? "the engine's own limit",
    quota: abilities.quota ? QUOTA.size : 'none: its storage driver has no quotas',
  })
  return abilities
}

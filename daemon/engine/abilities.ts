import type Docker from 'dockerode'
import { Readable } from 'node:stream'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import type { Connection } from './connection.ts'
import { engineMessage, isEngineAway } from './faults.ts'
import { ownLabels } from './labels.ts'
import type { Ledger } from './ledger.ts'

const log = logger('engine')

/** What an engine may give to containers, or refuse, by its host. */
export interface Abilities {
  /** Files that a container's process may have open; null leaves the engine's own limit. */
  openFiles: number | null
  /** Whether what a container writes outside of its disk can be bounded. */
  quota: boolean
}

/**
 * Enough for a busy server, few enough for programs that go through them all. An engine without the right to raise its
 * own limit is asked for less.
 */
const OPEN_FILES = [65_536, 16_384]
/** What a container may write outside of its disk. */
export const QUOTA = { size: '10G' }
/** The end of a tar file, which is all of an empty one (POSIX.1, pax). */
const EMPTY_TAR = Buffer.alloc(1_024)
const MEMORY_BYTES = 16 * 1024 ** 2

/** Finds out once what the engine gives, with a container of an empty image whose program is not there. */
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

  /** What the engine gives. Throws `runtime_error` when it does not answer. */
  known(): Promise<Abilities> {
    this.#found ??= this.#find().catch((error: unknown) => {
      if (isEngineAway(error)) {
        this.#found = null
        throw error
      }
      log.warn('what the engine gives to containers cannot be found out: its own limits hold', {
        error: messageOf(error),
      })
      return { openFiles: null, quota: false }
    })
    return this.#found
  }

  async #find(): Promise<Abilities> {
    const image = `deployer-${this.#serverId}/empty:trial`
    const name = `deployer-trial-${this.#serverId}`
    await this.#remove(name, image)
    try {
      this.#ledger.record('image', image)
      const [repo, tag] = image.split(':')
      await this.#connection.call('making an empty image', async (docker) => {
        const answer = await docker.importImage(Readable.from([EMPTY_TAR]), { repo, tag })
        for await (const _ of answer as AsyncIterable<Buffer>);
      })
      this.#ledger.record('container', name)
      const quota = await this.#tries(name, image, { StorageOpt: QUOTA })
      for (const openFiles of OPEN_FILES) {
        if (await this.#tries(name, image, { Ulimits: ulimitsOf(openFiles) }))
          return told({ openFiles, quota })
      }
      return told({ openFiles: null, quota })
    } finally {
      await this.#remove(name, image)
    }
  }

  /** Whether a container with these settings starts. */
  #tries(name: string, image: string, settings: Docker.HostConfig): Promise<boolean> {
    return this.#connection.call('trying what the engine gives', async (docker, abortSignal) => {
      try {
        const container = await docker.createContainer({
          name,
          Image: image,
          Labels: ownLabels(this.#serverId, { 'deployer.kind': 'trial' }),
          Entrypoint: ['/nothing'],
          HostConfig: { Init: true, NetworkMode: 'none', Memory: MEMORY_BYTES, ...settings },
          abortSignal,
        })
        try {
          await container.start({ abortSignal })
        } finally {
          await container.remove({ force: true })
        }
        return true
      } catch (error) {
        if (isEngineAway(error)) throw error
        log.debug('the engine does not give this', { settings, error: engineMessage(error) })
        return false
      }
    })
  }

  /** Also what a killed server has left. */
  async #remove(name: string, image: string): Promise<void> {
    await this.#connection.find('removing a trial', async (docker, abortSignal) => {
      if (this.#ledger.find('container', name))
        await docker.getContainer(name).remove({ force: true, abortSignal })
    })
    this.#ledger.forget('container', name)
    await this.#connection.find('removing an empty image', async (docker, abortSignal) => {
      if (this.#ledger.find('image', image))
        await docker.getImage(image).remove({ abortSignal } as Docker.ImageRemoveOptions)
    })
    this.#ledger.forget('image', image)
  }
}

/** The engine's form of a limit of open files. */
export function ulimitsOf(openFiles: number | null): Docker.HostConfig['Ulimits'] {
  return openFiles === null ? undefined : [{ Name: 'nofile', Soft: openFiles, Hard: openFiles }]
}

function told(abilities: Abilities): Abilities {
  log.info('what the engine gives to containers', {
    open_files: abilities.openFiles ?? "the engine's own limit",
    quota: abilities.quota ? QUOTA.size : 'none: its storage driver has no quotas',
  })
  return abilities
}

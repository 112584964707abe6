import type Docker from 'dockerode'
import type { Readable } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import { AppError } from '#server/errors.ts'
import {
  canonicalRegistry,
  formatReference,
  imageFault,
  parseReference,
  type ImageReference,
} from '#server/images/reference.ts'
import { withRenewal } from '#server/network/renewal.ts'
import { importEmpty, trialImage } from './abilities.ts'
import type { BuildCache } from './build-cache.ts'
import { buildImage, type BuildOptions } from './build.ts'
import type { Connection } from './connection.ts'
import { authOf, registryCredentials, type RegistryAuth, type RegistryCredentials } from './credentials.ts'
import { engineFault, explain, isRegistryRefusal, statusOf } from './faults.ts'
import { jsonLines } from './json-lines.ts'
import { shortName } from './image-names.ts'
import { imageLabels } from './labels.ts'
import type { Ledger } from './ledger.ts'

export interface ImageInfo {
  id: string
  tags: string[]
  /** `name@sha256:...` for each registry that it came from. */
  digests: string[]
  /** The TCP ports that it EXPOSEs, ascending. */
  exposedPorts: number[]
  user: string
  cmd: string[]
  entrypoint: string[]
  env: string[]
  workdir: string
  os: string
  /** Go's name for it: amd64, arm64. */
  architecture: string
  labels: Record<string, string>
  sizeBytes: number
}

export interface PullOptions {
  /** Credentials for the image's registry; those of the user's Docker `config.json` when absent. */
  registryAuth?: RegistryAuth
  signal: AbortSignal
  onLine: (line: string) => void
}

/** The engine's images. */
export class Images {
  readonly #connection: Connection
  readonly #serverId: string
  readonly #ledger: Ledger
  readonly #cache: BuildCache

  constructor(connection: Connection, serverId: string, ledger: Ledger, cache: BuildCache) {
    this.#connection = connection
    this.#serverId = serverId
    this.#ledger = ledger
    this.#cache = cache
  }

  /**
   * Pulls an image from its registry, and tries once more if the registry refuses the credentials and others are configured
   * by now. Returns its id and its digest there. Throws `invalid_request` for an invalid reference, `runtime_error` with the
   * reason (which does not repeat the name), or the signal's reason.
   */
  async pull(
    reference: string,
    { registryAuth = registryCredentials, signal, onLine }: PullOptions,
  ): Promise<{ id: string; digest: string | null }> {
    const parsed = parseReference(reference)
    const registry = canonicalRegistry(parsed.registry)
    const found = await registryAuth(registry)
    const wanted = withTag(parsed)
    const fromImage = formatReference(
      wanted.digest === null ? { ...wanted, tag: null } : { ...wanted, tag: null, digest: null },
    )
    const tag = wanted.digest ?? wanted.tag!
    const name = formatReference(wanted)
    const isOwn = await this.#isOwnToPull(name)
    const pull = async (shown: RegistryCredentials | null): Promise<void> => {
      const authconfig = shown ? { authconfig: authOf(shown) } : {}
      const body = await this.#connection
        .call(
          'pulling the image',
          (docker, abortSignal) =>
            docker.createImage({
              fromImage,
              tag,
              ...authconfig,
              abortSignal,
            }) as unknown as Promise<Readable>,
          { signal },
        )
        .catch((error: unknown) => {
          throw withoutPrefix(error, 'pulling the image: ')
        })
      await this.#followPull(body, onLine, signal)
    }
    await withRenewal(found, pull, async (fault, refused) => {
      if (!isRegistryRefusal(fault)) return null
      const other = await registryAuth(registry)
      return isDeepStrictEqual(other, refused) ? null : other
    })
    const image = await this.inspect(name)
    if (!image) throw new AppError('runtime_error', 'the engine pulled it but no longer has it: deploy again')
    if (isOwn) this.#ledger.record('image', name, image.id)
    const from = `${shortName(fromImage)}@`
    const digest = image.digests.map(shortName).find((one) => one.startsWith(from))
    return { id: image.id, digest: digest?.slice(from.length) ?? null }
  }

  /** An image by id or reference; null when the engine does not have it. */
  async inspect(reference: string): Promise<ImageInfo | null> {
    const found = await this.#connection.find(`inspecting the image ${reference}`, (docker, abortSignal) =>
      docker.getImage(reference).inspect({ abortSignal } as Docker.ImageInspectOptions),
    )
    return found && infoOf(found)
  }

  /** Builds an image from a tar stream and returns its id. Throws `build_failed`, `runtime_error` or the signal's reason. */
  build(context: Readable, options: BuildOptions): Promise<string> {
    this.#ledger.record('image', options.tag)
    const labels = imageLabels(this.#serverId, options.labels)
    return buildImage(this.#connection, this.#cache, context, { ...options, labels })
  }

  /**
   * The name of an image with nothing in it, for containers that are never started. It stays, since it takes no room and a
   * container may be about to be created from it.
   */
  async provideEmpty(): Promise<string> {
    const name = this.#empty
    this.#ledger.record('image', name)
    if (!(await this.inspect(name))) await importEmpty(this.#connection, name)
    return name
  }

  /** Gives an image another name, `repository:tag`. */
  async tag(id: string, name: string): Promise<void> {
    const colon = name.lastIndexOf(':')
    this.#ledger.record('image', name)
    await this.#connection.call(`naming the image ${name}`, (docker, abortSignal) =>
      docker.getImage(id).tag({ repo: name.slice(0, colon), tag: name.slice(colon + 1), abortSignal }),
    )
  }

  /**
   * Removes a name of an image that this server gave or pulled; layers that nothing else needs go with the last name. Does
   * nothing for a missing one. Throws `runtime_error` while a container needs the image.
   */
  async remove(name: string): Promise<void> {
    const recorded = this.#ledger.find('image', name)
    if (!recorded) {
      if (!(await this.inspect(name))) return
      throw new AppError(
        'runtime_error',
        `the image ${name} was not created by this server and is left alone`,
      )
    }
    // Another client has since given the name to another image.
    if (recorded.engine_id !== null && (await this.inspect(name))?.id !== recorded.engine_id)
      return this.#ledger.forget('image', name)
    await this.#connection.call(`removing the image ${name}`, async (docker, abortSignal) => {
      try {
        await docker.getImage(name).remove({ abortSignal } as Docker.ImageRemoveOptions)
      } catch (error) {
        if (statusOf(error) !== 404) throw error
      }
    })
    this.#ledger.forget('image', name)
  }

  /**
   * The names that this server gave to images, without its empty ones and its own program: that of trials is removed by these
   * themselves, that of nodes when there are none.
   */
  names(): string[] {
    const own = [trialImage(this.#serverId), this.#empty]
    const isOwn = (name: string) => own.includes(name) || name.startsWith(`${this.nodeRepository}:`)
    return this.#ledger
      .list('image')
      .flatMap(({ name, engine_id }) => (isOwn(name) || engine_id !== null ? [] : [name]))
  }

  /** The repository of the program that this server runs on its other nodes. */
  get nodeRepository(): string {
    return `deployer-${this.#serverId}/node`
  }

  /**
   * The names that this server pulled. `except` are names as users wrote them; an invalid one is ignored, since it cannot
   * have been pulled.
   */
  pulled({ except }: { except: readonly string[] }): string[] {
    const references = except.filter((text) => imageFault(text) === null)
    const kept = new Set(references.map((reference) => formatReference(withTag(parseReference(reference)))))
    return this.#ledger
      .list('image')
      .flatMap(({ name, engine_id }) => (engine_id === null || kept.has(name) ? [] : [name]))
  }

  /**
   * Removes that program of other versions of this server, whose id is in its name. One that still runs stays until the next
   * call.
   */
  async removeOldNodePrograms(current: string): Promise<void> {
    const filters = { reference: [`${this.nodeRepository}:*`] }
    const found = await this.#connection.call('listing images', (docker, abortSignal) =>
      docker.listImages({ filters, abortSignal } as Docker.ListImagesOptions),
    )
    for (const name of found.flatMap(({ RepoTags }) => RepoTags ?? [])) {
      if (shortName(name) === current) continue
      this.#ledger.record('image', shortName(name))
      await this.remove(shortName(name)).catch(() => {})
    }
  }

  get #empty(): string {
    return `deployer-${this.#serverId}/empty:never-started`
  }

  /** Whether this server owns a name that it is about to pull: it does not exist yet, or is as an earlier pull left it. */
  async #isOwnToPull(name: string): Promise<boolean> {
    const image = await this.inspect(name)
    return image === null || image.id === this.#ledger.find('image', name)?.engine_id
  }

  async #followPull(body: Readable, onLine: (line: string) => void, signal: AbortSignal): Promise<void> {
    try {
      for await (const value of jsonLines(body)) {
        if (typeof value.error === 'string')
          throw new AppError('runtime_error', explain(value.error), { cause: value.error })
        const line = progressLine(value)
        if (line) onLine(line)
      }
    } catch (error) {
      signal.throwIfAborted()
      throw engineFault('pulling the image', this.#connection.place, error)
    } finally {
      body.destroy()
    }
  }
}

/** Progress bars change many times a second; the log keeps only final states. */
const INTERMEDIATE_STATUS =
  /^(Pulling fs layer|Waiting|Downloading|Extracting|Verifying Checksum|Download complete)/

function progressLine({ status, id }: Record<string, unknown>): string | null {
  if (typeof status !== 'string' || INTERMEDIATE_STATUS.test(status)) return null
  return typeof id === 'string' && /^[0-9a-f]{12}$/.test(id) ? `${id}: ${status}` : status
}

/** Without a tag, the engine would pull all tags. */
function withTag(reference: ImageReference): ImageReference {
  return { ...reference, tag: reference.tag ?? (reference.digest === null ? 'latest' : null) }
}

function withoutPrefix(error: unknown, prefix: string): unknown {
  if (!(error instanceof AppError) || !error.message.startsWith(prefix)) return error
  return new AppError(error.code, error.message.slice(prefix.length), { cause: error.cause })
}

function infoOf(found: Docker.ImageInspectInfo): ImageInfo {
  const config = found.Config ?? {}
  const ports = Object.keys(config.ExposedPorts ?? {}).flatMap((port) => {
    const [number, protocol] = port.split('/')
    return protocol === undefined || protocol === 'tcp' ? [Number(number)] : []
  })
  return {
    id: found.Id,
    tags: (found.RepoTags ?? []).map(shortName),
    digests: found.RepoDigests ?? [],
    exposedPorts: ports.sort((a, b) => a - b),
    user: config.User ?? '',
    cmd: config.Cmd ?? [],
    entrypoint: typeof config.Entrypoint === 'string' ? [config.Entrypoint] : (config.Entrypoint ?? []),
    env: config.Env ?? [],
    workdir: config.WorkingDir ?? '',
    os: found.Os,
    architecture: found.Architecture,
    labels: config.Labels ?? {},
    sizeBytes: found.Size,
  }
}

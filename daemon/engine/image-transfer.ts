import type { Readable } from 'node:stream'
import { AppError } from '#server/errors.ts'
import type { Connection } from './connection.ts'
import { engineFault, explain } from './faults.ts'
import { jsonLines } from './json-lines.ts'

/** A new node's line may be slow. */
const LOAD_MS = 30 * 60_000

/** Images on their way between engines. */
export class ImageTransfer {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** An image with its name, as `docker save` writes it. */
  save(name: string, signal: AbortSignal): Promise<Readable> {
    return this.#connection.stream(`saving the image ${name}`, {
      method: 'GET',
      path: `/images/${encodeURIComponent(name)}/get`,
      signal,
    })
  }

  /** Takes what `save` returned. Throws `runtime_error`. */
  async load(tar: Readable): Promise<void> {
    const doing = 'loading an image'
    const body = await this.#connection.call(
      doing,
      (docker, abortSignal) => docker.loadImage(tar as never, { quiet: true, abortSignal }),
      { timeoutMs: LOAD_MS },
    )
    await this.#follow(doing, body as Readable)
  }

  /** Pushes an image by a name with a tag, and returns its digest in the registry. Throws `runtime_error`. */
  async push(
    name: string,
    credentials: { username: string; password: string },
    signal?: AbortSignal,
  ): Promise<string> {
    const doing = `pushing the image ${name}`
    const colon = name.lastIndexOf(':')
    const body = await this.#connection.call(
      doing,
      (docker, abortSignal) =>
        docker
          .getImage(name.slice(0, colon))
          .push({ tag: name.slice(colon + 1), authconfig: credentials, abortSignal } as object),
      { signal },
    )
    const digest = await this.#follow(doing, body as Readable)
    if (digest === null) throw new AppError('runtime_error', `${doing}: the engine does not say its digest`)
    return digest
  }

  /** Reads progress to its end; returns the digest that it tells. */
  async #follow(doing: string, body: Readable): Promise<string | null> {
    let digest: string | null = null
    try {
      for await (const { error, aux } of jsonLines(body)) {
        if (typeof error === 'string') throw new AppError('runtime_error', `${doing}: ${explain(error)}`)
        const told = (aux as { Digest?: unknown } | undefined)?.Digest
        if (typeof told === 'string') digest = told
      }
    } catch (error) {
      throw engineFault(doing, this.#connection.place, error)
    } finally {
      body.destroy()
    }
    return digest
  }
}

import { fetch, ProxyAgent, type Dispatcher, type Response } from 'undici'
import { z } from 'zod'
import { messageOf } from '#server/errors.ts'
import type { RefusalStatus } from '#server/git/providers/ask.ts'
import { portOf, type Reach } from '#server/network/addresses.ts'
import { forbiddenIn, judgedAgent, textWithin } from '#server/network/judged-agent.ts'
import { assertPlace, ForbiddenPlace, resolveJudged } from '#server/network/judged.ts'
import { parsedJson } from '#server/text/parsed-json.ts'
import { plainLine } from '#server/text/plain-line.ts'
import { VERSION } from '#server/version.ts'
import { BuildFailure } from '#plans/index.ts'
import type { LfsObject } from './lfs-files.ts'
import { outboundProxy } from './outbound-proxy.ts'

/** The batch API (git-lfs, docs/api/batch.md). */
const MEDIA_TYPE = 'application/vnd.git-lfs+json'
/** As many objects are asked for at once, as git-lfs itself does. */
const BATCH_OBJECTS = 100
/** An answer about a hundred objects takes 100 KiB. More would only keep the server busy with reading it. */
const MAX_ANSWER_BYTES = 512 * 1024
/** A host that takes no connection, says nothing or sends nothing for as long is given up. */
const CONNECT_MS = 20_000
const SILENCE_MS = 60_000
/** Stores of objects lead on once or twice. */
const MAX_REDIRECTS = 3

/** What is told of an object. */
const Told = z.object({
  oid: z.string(),
  actions: z
    .object({
      download: z.object({ href: z.string(), header: z.record(z.string(), z.string()).optional() }),
    })
    .nullish()
    .catch(null),
  error: z.object({ code: z.number(), message: z.string().catch('') }).nullish(),
})
/** Only as many as were asked for are looked at: each that is wrong costs more than one that is right. */
const Batch = z
  .object({ objects: z.array(z.unknown()).max(BATCH_OBJECTS) })
  .transform(({ objects }) => objects)

/** Where an object is had. */
interface Place {
  href: string
  header: Record<string, string>
}

/** Where a repository's objects are asked for, and with what. */
export interface LfsEndpoint {
  /** Without credentials. */
  url: string
  header: Record<string, string>
}

/** A server of Git LFS refused the credentials that it was asked with. */
export class LfsRefusal extends BuildFailure {
  readonly status: RefusalStatus

  constructor(status: RefusalStatus, message: string) {
    super(message)
    this.status = status
  }
}

/**
 * A client of a Git LFS server, which is asked for objects by the batch API with the basic transfer. Every address, those
 * that it names and leads to included, is judged when it is connected to; what signs in is sent to the server's origin alone.
 */
export class LfsClient {
  readonly #endpoint: LfsEndpoint
  readonly #reach: Reach
  readonly #signal: AbortSignal
  readonly #agents = new Map<string, Dispatcher>()

  constructor(endpoint: LfsEndpoint, reach: Reach, signal: AbortSignal) {
    this.#endpoint = endpoint
    this.#reach = reach
    this.#signal = signal
  }

  /** The bytes of objects, one after another in their order. Throws BuildFailure with what to do. */
  async *read(objects: LfsObject[]): AsyncGenerator<Uint8Array> {
    for (let from = 0; from < objects.length; from += BATCH_OBJECTS) {
      const some = objects.slice(from, from + BATCH_OBJECTS)
      const places = await this.#locate(some)
      for (const object of some) yield* this.#download(object, places.get(object.oid)!)
    }
  }

  /** Ends its connections. */
  async close(): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => agent.destroy()))
  }

  async #locate(objects: LfsObject[]): Promise<Map<string, Place>> {
    const body = JSON.stringify({
      operation: 'download',
      transfers: ['basic'],
      objects: objects.map(({ oid, size }) => ({ oid, size })),
      hash_algo: 'sha256',
    })
    const { url, header } = this.#endpoint
    const headers = { ...header, accept: MEDIA_TYPE, 'content-type': MEDIA_TYPE }
    const response = await this.#send(new URL(`${url}/objects/batch`), { method: 'POST', body, headers })
    if (response.status !== 200) throw this.#refusal(response.status)
    const answer = Batch.pipe(z.array(Told)).safeParse(parsedJson(await this.#textOf(response)))
    if (!answer.success) throw this.#fault('does not answer as Git LFS does: is this its address?')
    const told = new Map(answer.data.map((object) => [object.oid, object]))
    return new Map(objects.map((object) => [object.oid, this.#placeOf(object, told.get(object.oid))]))
  }

  #placeOf({ oid, paths }: LfsObject, told: z.infer<typeof Told> | undefined): Place {
    const download = told?.actions?.download
    if (download) return { href: download.href, header: download.header ?? {} }
    const why = told?.error
      ? `it says ${told.error.code} ${plain(told.error.message)}`.trim()
      : 'it names no place'
    throw this.#fault(
      `does not have ${paths[0]} (object ${oid.slice(0, 12)}, ${why}): push it with "git lfs push --all"`,
    )
  }

  async *#download({ oid, size, paths }: LfsObject, { href, header }: Place): AsyncGenerator<Uint8Array> {
    const url = URL.parse(href, `${this.#endpoint.url}/`)
    if (url === null || !/^https?:$/.test(url.protocol))
      throw this.#fault(`names an address for ${paths[0]} that is not taken`)
    // A place without a key of its own is the server's, and asked with what signs in there.
    const own = url.origin === new URL(this.#endpoint.url).origin ? this.#endpoint.header : {}
    const response = await this.#follow(url, { ...own, ...header })
    if (response.status !== 200)
      throw this.#fault(
        `answered ${response.status} for ${paths[0]} (object ${oid.slice(0, 12)}): deploy again`,
      )
    let left = size
    for await (const piece of this.#bytesOf(response)) {
      left -= piece.length
      if (left < 0) break
      yield piece
    }
    if (left !== 0)
      throw this.#fault(`sent ${paths[0]} with another length than its pointer says: push it again`)
  }

  /** Follows redirects to anywhere that may be asked; what signs in stays with the origin that it was for. */
  async #follow(url: URL, headers: Record<string, string>): Promise<Response> {
    let at = url
    for (let redirects = 0; ; redirects += 1) {
      const response = await this.#send(at, { headers: at.origin === url.origin ? headers : {} })
      if (response.status < 300 || response.status >= 400) return response
      await response.body?.cancel()
      const next = URL.parse(response.headers.get('location') ?? '', at)
      if (next === null || !/^https?:$/.test(next.protocol) || redirects === MAX_REDIRECTS)
        throw this.#fault('leads nowhere')
      at = next
    }
  }

  async #send(
    url: URL,
    init: { method?: string; body?: string; headers: Record<string, string> },
  ): Promise<Response> {
    try {
      const scheme = url.protocol === 'https:' ? 'https' : 'http'
      await this.#judge(url, scheme)
      return await fetch(url, {
        ...init,
        headers: { 'user-agent': `deployer/${VERSION}`, ...init.headers },
        redirect: 'manual',
        dispatcher: this.#agentFor(scheme),
        signal: this.#signal,
      })
    } catch (error) {
      throw this.#explain(error)
    }
  }

  /** A name is judged when it is connected to; here too where a proxy of the host's connects, which may know others. */
  async #judge(url: URL, scheme: 'http' | 'https'): Promise<void> {
    const place = [url.hostname, portOf(url), this.#reach] as const
    assertPlace(...place)
    if (outboundProxy(scheme) === null) return
    await resolveJudged(...place).catch((error: unknown) => {
      if (error instanceof ForbiddenPlace) throw error
    })
  }

  /** What a server says; of one that says too much, nothing. */
  async #textOf(response: Response): Promise<string> {
    return (await textWithin(this.#bytesOf(response), MAX_ANSWER_BYTES)) ?? ''
  }

  async *#bytesOf(response: Response): AsyncGenerator<Uint8Array> {
    try {
      if (response.body) yield* response.body
    } catch (error) {
      throw this.#explain(error)
    }
  }

  #agentFor(scheme: 'http' | 'https'): Dispatcher {
    const known = this.#agents.get(scheme)
    if (known) return known
    const proxy = outboundProxy(scheme)
    const agent =
      proxy === null
        ? judgedAgent(() => this.#reach, CONNECT_MS, PATIENCE)
        : new ProxyAgent({ uri: proxy.href, ...PATIENCE })
    this.#agents.set(scheme, agent)
    return agent
  }

  #refusal(status: number): BuildFailure {
    if (status === 401 || status === 403)
      return new LfsRefusal(
        status,
        `the Git LFS of ${this.#endpoint.url} refused the credentials: authorize its git connection again, or correct the address`,
      )
    if ([404, 405, 406, 410, 501].includes(status))
      return this.#fault(`is none (it answered ${status}): keep the files in git itself, or correct lfs.url`)
    return this.#fault(`answered ${status}: deploy again later`)
  }

  #explain(error: unknown): unknown {
    if (this.#signal.aborted) return this.#signal.reason
    const forbidden = forbiddenIn(error)
    if (forbidden) return this.#fault(`may not be asked: ${forbidden.message}`)
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return this.#fault(`cannot be reached (${plain(messageOf(cause))}): try again`)
  }

  #fault(what: string): BuildFailure {
    return new BuildFailure(`the Git LFS of ${this.#endpoint.url} ${what}`)
  }
}

const PATIENCE = { headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS }

/** As much of a server's own words is repeated. */
const MAX_SAID_CHARACTERS = 200

function plain(text: string): string {
  return plainLine(text, MAX_SAID_CHARACTERS)
}

import { Agent, buildConnector, fetch, ProxyAgent, type Dispatcher, type Response } from 'undici'
import { z } from 'zod'
import { messageOf } from '#server/errors.ts'
import type { RefusalStatus } from '#server/git/providers/ask.ts'
import { usualPort } from '#server/git/url.ts'
import type { Reach } from '#server/reach/addresses.ts'
import { plainLine } from '#server/plain-line.ts'
import { parsedJson } from '#server/parsed-json.ts'
import { assertPlace, ForbiddenPlace, judgedLookup, resolveJudged } from '#server/reach/judged.ts'
import { VERSION } from '#server/version.ts'
import { BuildFailure } from '../builds/failure.ts'
import type { LfsObject } from './lfs-files.ts'
import { outboundProxy } from './outbound-proxy.ts'

/** The batch API (git-lfs, docs/api/batch.md). */
const MEDIA_TYPE = 'application/vnd.git-lfs+json'
/** How many objects are requested at once, as in git-lfs itself. */
const BATCH_OBJECTS = 100
/** An answer about a hundred objects has 100 KiB. Parsing more would only keep this server busy. */
const MAX_ANSWER_BYTES = 512 * 1024
/** How long a host may take to accept a connection, and how long it may send nothing. */
const CONNECT_MS = 20_000
const SILENCE_MS = 60_000
/** Object stores redirect once or twice. */
const MAX_REDIRECTS = 3

/** The answer about one object. */
const LocatedObject = z.object({
  oid: z.string(),
  actions: z
    .object({
      download: z.object({ href: z.string(), header: z.record(z.string(), z.string()).optional() }),
    })
    .nullish()
    .catch(null),
  error: z.object({ code: z.number(), message: z.string().catch('') }).nullish(),
})
/** No more objects than were requested are parsed, since an invalid one costs more than a valid one. */
const Batch = z
  .object({ objects: z.array(z.unknown()).max(BATCH_OBJECTS) })
  .transform(({ objects }) => objects)

/** Where an object can be downloaded. */
interface Place {
  href: string
  header: Record<string, string>
}

/** Where a repository's objects are requested, and with which headers. */
export interface LfsEndpoint {
  /** Without credentials. */
  url: string
  header: Record<string, string>
}

/** Thrown when a Git LFS server refuses the credentials. */
export class LfsRefusal extends BuildFailure {
  readonly status: RefusalStatus

  constructor(status: RefusalStatus, message: string) {
    super(message)
    this.status = status
  }
}

/**
 * A Git LFS server, from which objects are fetched with the batch API and the basic transfer. Every host, including those in
 * its answers and redirects, is judged when it is connected to; credentials are sent only to the server's own origin.
 */
export class LfsServer {
  readonly #endpoint: LfsEndpoint
  readonly #reach: Reach
  readonly #signal: AbortSignal
  readonly #agents = new Map<string, Dispatcher>()

  constructor(endpoint: LfsEndpoint, reach: Reach, signal: AbortSignal) {
    this.#endpoint = endpoint
    this.#reach = reach
    this.#signal = signal
  }

  /** The bytes of objects, one after another, in order. Throws BuildFailure with what to do. */
  async *read(objects: LfsObject[]): AsyncGenerator<Uint8Array> {
    for (let from = 0; from < objects.length; from += BATCH_OBJECTS) {
      const some = objects.slice(from, from + BATCH_OBJECTS)
      const places = await this.#locate(some)
      for (const object of some) yield* this.#download(object, places.get(object.oid)!)
    }
  }

  /** Closes its connections. */
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
    const answer = Batch.pipe(z.array(LocatedObject)).safeParse(parsedJson(await this.#textOf(response)))
    if (!answer.success) throw this.#fault('does not answer like a Git LFS server: check lfs.url')
    const located = new Map(answer.data.map((object) => [object.oid, object]))
    return new Map(objects.map((object) => [object.oid, this.#placeOf(object, located.get(object.oid))]))
  }

  #placeOf({ oid, paths }: LfsObject, located: z.infer<typeof LocatedObject> | undefined): Place {
    const download = located?.actions?.download
    if (download) return { href: download.href, header: download.header ?? {} }
    const why = located?.error
      ? `it says ${located.error.code} ${plain(located.error.message)}`.trim()
      : 'it gives no download link'
    throw this.#fault(
      `does not have ${paths[0]} (object ${oid.slice(0, 12)}, ${why}): push it with "git lfs push --all"`,
    )
  }

  async *#download({ oid, size, paths }: LfsObject, { href, header }: Place): AsyncGenerator<Uint8Array> {
    const url = URL.parse(href, `${this.#endpoint.url}/`)
    if (url === null || !/^https?:$/.test(url.protocol))
      throw this.#fault(`gives an invalid download link for ${paths[0]}`)
    // A link on the server's own origin gets the server's credentials.
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
      throw this.#fault(`sent ${paths[0]} with a length that does not match its pointer: push it again`)
  }

  /** Follows redirects to any place that may be reached; credentials are sent only to the origin that they are for. */
  async #follow(url: URL, headers: Record<string, string>): Promise<Response> {
    let at = url
    for (let redirects = 0; ; redirects += 1) {
      const response = await this.#send(at, { headers: at.origin === url.origin ? headers : {} })
      if (response.status < 300 || response.status >= 400) return response
      await response.body?.cancel()
      const next = URL.parse(response.headers.get('location') ?? '', at)
      if (next === null || !/^https?:$/.test(next.protocol) || redirects === MAX_REDIRECTS)
        throw this.#fault('redirects too often, or to an invalid URL')
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

  /** A name is judged when it is connected to. With an outbound proxy it is judged here, as far as it can be resolved. */
  async #judge({ hostname, port }: URL, scheme: 'http' | 'https'): Promise<void> {
    const place = [hostname, Number(port) || usualPort(scheme), this.#reach] as const
    assertPlace(...place)
    if (outboundProxy(scheme) === null) return
    await resolveJudged(...place).catch((error: unknown) => {
      if (error instanceof ForbiddenPlace) throw error
    })
  }

  /** The text of an answer; empty if it is too long. */
  async #textOf(response: Response): Promise<string> {
    const pieces: Uint8Array[] = []
    let size = 0
    for await (const piece of this.#bytesOf(response)) {
      size += piece.length
      if (size > MAX_ANSWER_BYTES) return ''
      pieces.push(piece)
    }
    return Buffer.concat(pieces).toString('utf8')
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
      proxy === null ? this.#judgingAgent() : new ProxyAgent({ uri: proxy.href, ...SILENCE_TIMEOUTS })
    this.#agents.set(scheme, agent)
    return agent
  }

  #judgingAgent(): Agent {
    return new Agent({
      ...SILENCE_TIMEOUTS,
      connect: (options, callback) => {
        const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80)
        buildConnector({ lookup: judgedLookup(port, this.#reach), timeout: CONNECT_MS })(options, callback)
      },
    })
  }

  #refusal(status: number): BuildFailure {
    if (status === 401 || status === 403)
      return new LfsRefusal(
        status,
        `the Git LFS server at ${this.#endpoint.url} refused the credentials: authorize its git connection again, or correct the URL`,
      )
    if ([404, 405, 406, 410, 501].includes(status))
      return this.#fault(
        `does not exist (it answered ${status}): keep the files in git itself, or correct lfs.url`,
      )
    return this.#fault(`answered ${status}: deploy again later`)
  }

  #explain(error: unknown): unknown {
    if (this.#signal.aborted) return this.#signal.reason
    for (let at = error; at instanceof Error; at = at.cause)
      if (at instanceof ForbiddenPlace) return this.#fault(`may not be reached: ${at.message}`)
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return this.#fault(`cannot be reached (${plain(messageOf(cause))}): try again`)
  }

  #fault(what: string): BuildFailure {
    return new BuildFailure(`the Git LFS server at ${this.#endpoint.url} ${what}`)
  }
}

const SILENCE_TIMEOUTS = { headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS }

/** How much of a server's own message is repeated. */
const MAX_REPEATED_CHARACTERS = 200

function plain(text: string): string {
  return plainLine(text, MAX_REPEATED_CHARACTERS)
}

import { fetch, ProxyAgent, Socks5ProxyAgent, type Dispatcher, type Response } from 'undici'
import { z } from 'zod'
import { messageOf } from '#server/errors.ts'
import type { RefusalStatus } from '#server/git/providers/ask.ts'
import { bareHost, portOf, type Reach } from '#server/network/addresses.ts'
import { judgedDispatcher } from '#server/network/agents.ts'
import { askJson, reasonOf, type JsonAnswer } from '#server/network/json.ts'
import { ForbiddenPlace, resolveJudged } from '#server/network/judged.ts'
import { plainLine } from '#server/text/plain-line.ts'
import { VERSION } from '#server/version.ts'
import { BuildFailure } from '#plans/index.ts'
import type { LfsObject } from './lfs-files.ts'
import { HOP_BY_HOP } from './forward-gate.ts'
import { isOfHttp, outboundProxy } from './outbound-proxy.ts'

/** The batch API (git-lfs, docs/api/batch.md). */
const MEDIA_TYPE = 'application/vnd.git-lfs+json'
/** How many objects are requested at once, as in git-lfs itself. */
const BATCH_OBJECTS = 100
/** An answer about a hundred objects has 100 KiB. Parsing more would only keep this server busy. */
const MAX_ANSWER_BYTES = 512 * 1024
/** How long a host, or a proxy, may take to accept a connection, and how long it may send nothing. */
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
 * A client of a Git LFS server, from which objects are fetched with the batch API and the basic transfer. Every host,
 * including those in its answers and redirects, is judged when it is connected to; credentials are sent only to the server's
 * own origin.
 */
export class LfsClient {
  readonly #endpoint: LfsEndpoint
  readonly #reach: Reach
  readonly #signal: AbortSignal
  readonly #dispatchers = new Map<string, Dispatcher>()

  constructor(endpoint: LfsEndpoint, reach: Reach, signal: AbortSignal) {
    this.#endpoint = { ...endpoint, header: fieldsOf(endpoint.header) }
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
    await Promise.all([...this.#dispatchers.values()].map((dispatcher) => dispatcher.destroy()))
  }

  async #locate(objects: LfsObject[]): Promise<Map<string, Place>> {
    const { status, body } = await this.#askAbout(objects)
    if (status !== 200) throw this.#refusal(status)
    const answer = Batch.pipe(z.array(LocatedObject)).safeParse(body)
    if (!answer.success) throw this.#fault('does not answer like a Git LFS server: check lfs.url')
    const located = new Map(answer.data.map((object) => [object.oid, object]))
    return new Map(objects.map((object) => [object.oid, this.#placeOf(object, located.get(object.oid))]))
  }

  async #askAbout(objects: LfsObject[]): Promise<JsonAnswer> {
    const body = {
      operation: 'download',
      transfers: ['basic'],
      objects: objects.map(({ oid, size }) => ({ oid, size })),
      hash_algo: 'sha256',
    }
    const headers = { ...this.#endpoint.header, accept: MEDIA_TYPE, 'content-type': MEDIA_TYPE }
    const url = `${this.#endpoint.url}/objects/batch`
    try {
      const dispatcher = await this.#dispatcherFor(new URL(url))
      const bounds = { dispatcher, signal: this.#signal, maxBytes: MAX_ANSWER_BYTES }
      return await askJson(url, { method: 'POST', headers, body }, bounds)
    } catch (error) {
      throw this.#explain(error)
    }
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
    const response = await this.#follow(url, { ...own, ...fieldsOf(header) })
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
      const response = await this.#send(at, at.origin === url.origin ? headers : {})
      if (response.status < 300 || response.status >= 400) return response
      await response.body?.cancel()
      const next = URL.parse(response.headers.get('location') ?? '', at)
      if (next === null || !/^https?:$/.test(next.protocol) || redirects === MAX_REDIRECTS)
        throw this.#fault('redirects too often, or to an invalid URL')
      at = next
    }
  }

  async #send(url: URL, headers: Record<string, string>): Promise<Response> {
    try {
      return await fetch(url, {
        headers: { 'user-agent': `deployer/${VERSION}`, ...headers },
        redirect: 'manual',
        dispatcher: await this.#dispatcherFor(url),
        signal: this.#signal,
      })
    } catch (error) {
      throw this.#explain(error)
    }
  }

  async *#bytesOf(response: Response): AsyncGenerator<Uint8Array> {
    try {
      if (response.body) yield* response.body
    } catch (error) {
      throw this.#explain(error)
    }
  }

  /** A name is judged when it is connected to. With an outbound proxy it is judged here, as far as it can be resolved. */
  async #dispatcherFor(url: URL): Promise<Dispatcher> {
    const proxy = outboundProxy(url.protocol === 'https:' ? 'https' : 'http')
    if (proxy !== null)
      await resolveJudged(bareHost(url.hostname), portOf(url), this.#reach).catch((error: unknown) => {
        if (error instanceof ForbiddenPlace) throw error
      })
    const way = proxy?.href ?? 'direct'
    const dispatcher =
      this.#dispatchers.get(way) ??
      (proxy === null ? judgedDispatcher(() => this.#reach, CONNECT_MS) : dispatcherThrough(proxy)).compose(
        endingAtSilence,
      )
    this.#dispatchers.set(way, dispatcher)
    return dispatcher
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
    const reason = reasonOf(error)
    if (reason instanceof ForbiddenPlace) return this.#fault(`may not be reached: ${reason.message}`)
    return this.#fault(`cannot be reached (${plain(messageOf(reason))}): try again`)
  }

  #fault(what: string): BuildFailure {
    return new BuildFailure(`the Git LFS server at ${this.#endpoint.url} ${what}`)
  }
}

/** The proxy resolves names itself, so nothing is judged when it is connected to. */
function dispatcherThrough(proxy: URL): Dispatcher {
  if (isOfHttp(proxy)) return new ProxyAgent({ uri: proxy.href, connectTimeout: CONNECT_MS })
  // Whatever it is called ("socks5h"), it is asked in version 5.
  return new Socks5ProxyAgent(proxy.href.replace(/^[^:]+/, 'socks5'), { connectTimeout: CONNECT_MS })
}

/** Set for each request, since not every proxy's connections take these options. */
const endingAtSilence: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
  dispatch({ ...options, headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS }, handler)

/** Fields that say how a request is sent, not what is asked. A server could use them to ask others in its own words. */
const OF_SENDING = new Set([...HOP_BY_HOP, 'content-length', 'expect', 'host'])

/** The fields that a server wants to be sent. Their names may be in any case; a later one replaces one of the same name. */
function fieldsOf(header: Record<string, string>): Record<string, string> {
  const fields = Object.entries(header).map(([name, value]) => [name.toLowerCase(), value] as const)
  return Object.fromEntries(fields.filter(([name]) => !OF_SENDING.has(name)))
}

/** How much of a server's own message is repeated. */
const MAX_REPEATED_CHARACTERS = 200

function plain(text: string): string {
  return plainLine(text, MAX_REPEATED_CHARACTERS)
}

import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import type { Call } from '../call.ts'
import { EXIT, Fault } from '../fault.ts'
import { didYouMean } from '../suggest.ts'
import { exitCodeOf, parsed, pathOf, retryAfterMs, textOf, type Query } from './answer.ts'
import { chooseServer, type Server } from './server.ts'
import type { EventTaker } from './sse.ts'
import { httpTransport, LostConnection, type Transport, type Way } from './transport.ts'

/** A request without an answer ends after it. */
const ANSWER_LIMIT_MS = 30_000
/** Keep-alives of a stream come every 15 s. */
const STREAM_SILENCE_MS = 45_000
/** Pauses before a request that only reads is sent again after a lost connection. */
const RETRY_PAUSES_MS = [200, 1_000, 3_000]

/** What the server says when a name does not exist, in a path, a query or a body. */
const MISSING = /there is no (service|datastore|env group|environment|node) (\S+?)(?: in (\S+))?$/
const COLLECTIONS: Readonly<Record<string, string>> = {
  service: '/services',
  datastore: '/datastores',
  'env group': '/env-groups',
  environment: '/environments',
  node: '/nodes',
}

export type { Query } from './answer.ts'

export interface RequestOptions {
  query?: Query
  /** How long the server may take. */
  limitMs?: number
  signal?: AbortSignal
  /** Whether a lost connection is reported at once, instead of tried again a few times. */
  isOnce?: boolean
}

export interface StreamOptions extends Pick<RequestOptions, 'signal' | 'isOnce'> {
  /** Called when the stream is open, before its first event. */
  onOpen?: () => void
}

export interface RawQuestion extends RequestOptions {
  method: string
  /** Below /api/v1, or from the root when it begins with `/api/`, `/auth/` is below as well. */
  path: string
  headers?: Record<string, string>
  body?: string | Readable
}

/** An error that the API returned. */
export class ApiFault extends Fault {
  readonly status: number
  readonly details: readonly ApiFaultDetail[]

  constructor(status: number, code: string, message: string, details: readonly ApiFaultDetail[] = []) {
    super(exitCodeOf(status), message, { code })
    this.status = status
    this.details = details
  }
}

/** One of several faults in a file that was sent. */
export interface ApiFaultDetail {
  line: number
  column: number
  path: string
  message: string
}

/** The API of one server. Paths are below `/api/v1`. */
export class Api {
  readonly server: Server
  readonly #transport: Transport
  readonly #isDebug: boolean

  constructor(server: Server, transport: Transport, { isDebug = false }: { isDebug?: boolean } = {}) {
    this.server = server
    this.#transport = transport
    this.#isDebug = isDebug
  }

  /** The address of the dashboard and the API, as far as this computer reaches it. */
  get url(): string {
    return this.#transport.url
  }

  /** What a WebSocket at a path needs: its way, its path with the query, and who asks. */
  socketAt(path: string, query: Query = {}): { way: Way; path: string; headers: Record<string, string> } {
    return { way: this.#transport.way, path: pathOf(path, query), headers: this.#authorization() }
  }

  /** Reads. Throws Fault; for a name that does not exist with the nearest one. */
  async get<T>(path: string, query: Query = {}, options: RequestOptions = {}): Promise<T> {
    return (await this.#json('GET', path, { ...options, query })) as T
  }

  /** Changes something, once. Resolves with null for an answer without a body. Throws as `get`. */
  async send<T>(
    method: 'POST' | 'PATCH' | 'PUT' | 'DELETE',
    path: string,
    body?: unknown,
    options: RequestOptions = {},
  ): Promise<T> {
    return (await this.#json(method, path, options, body)) as T
  }

  /** Sends an archive, once; `bytes` is its size, if it is known. Throws as `send`, and what its stream throws. */
  async upload<T>(
    path: string,
    body: Readable,
    { bytes, ...options }: RequestOptions & { bytes: number | null },
  ): Promise<T> {
    const headers = {
      'content-type': 'application/gzip',
      ...(bytes === null ? {} : { 'content-length': String(bytes) }),
    }
    return (await this.valueOf(await this.raw({ ...options, method: 'POST', path, body, headers }))) as T
  }

  /** Sends a request and resolves with the answer, whatever its status, before its body is read. */
  async raw(question: RawQuestion): Promise<IncomingMessage> {
    const { method, path, query, headers, body, limitMs, signal, isOnce = false } = question
    const target = pathOf(path, query)
    const mayRepeat = typeof body === 'string' || body === undefined
    const repeats = !isOnce && (method === 'GET' || method === 'HEAD')
    for (let tries = 0; ; tries++) {
      const began = performance.now()
      try {
        const answer = await this.#transport.ask({
          method,
          path: target,
          headers: { accept: 'application/json', ...this.#authorization(), ...headers },
          silenceMs: limitMs ?? ANSWER_LIMIT_MS,
          ...(body === undefined ? {} : { body }),
          ...(signal === undefined ? {} : { signal }),
        })
        this.#debug(method, target, String(answer.statusCode), began, answer.headers['x-request-id'])
        const pauseMs = mayRepeat && tries < RETRY_PAUSES_MS.length ? retryAfterMs(answer) : null
        if (pauseMs === null) return answer
        answer.resume()
        await delay(pauseMs, undefined, signal ? { signal } : {})
      } catch (error) {
        this.#debug(method, target, (error as Error).message, began)
        const pauseMs = repeats && error instanceof LostConnection ? RETRY_PAUSES_MS[tries] : undefined
        if (pauseMs === undefined) throw error
        await delay(pauseMs, undefined, signal ? { signal } : {})
      }
    }
  }

  /**
   * Passes on the events of a stream over one connection; resolves after `end`. Throws Fault for a refusal, LostConnection for
   * a connection that is cut or silent, and what the taker throws.
   */
  async events(path: string, query: Query, options: StreamOptions, taker: EventTaker): Promise<void> {
    const { signal, onOpen, isOnce = false } = options
    const answer = await this.raw({
      method: 'GET',
      path,
      query,
      headers: { accept: 'text/event-stream' },
      limitMs: STREAM_SILENCE_MS,
      isOnce,
      ...(signal === undefined ? {} : { signal }),
    })
    if (answer.statusCode !== 200) throw await this.faultOf(answer)
    const { readEvents } = await import('./sse.ts')
    onOpen?.()
    await readEvents(answer, STREAM_SILENCE_MS, this.url, taker)
  }

  /** The fault that an answer says. Reads its body. */
  async faultOf(answer: IncomingMessage): Promise<Fault> {
    const status = answer.statusCode ?? 0
    const text = await textOf(answer)
    if (status >= 300 && status < 400)
      return new Fault(
        EXIT.noConnection,
        `${this.url} redirects to ${answer.headers.location ?? 'another address'}; sign in to that address`,
      )
    const { error } = (parsed(text) ?? {}) as {
      error?: { code: string; message: string; details?: ApiFaultDetail[] }
    }
    if (typeof error?.message !== 'string') return this.#notOurs()
    const advice =
      status === 401 ? '; deployer login' : status === 404 ? await this.#nearest(error.message) : ''
    return new ApiFault(status, error.code, `${error.message}${advice}`, error.details)
  }

  close(): void {
    this.#transport.close()
  }

  async #json(method: string, path: string, options: RequestOptions, body?: unknown): Promise<unknown> {
    return this.valueOf(
      await this.raw({
        ...options,
        method,
        path,
        ...(body === undefined
          ? {}
          : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      }),
    )
  }

  /** The JSON of an answer; null if it has none. Throws the fault that it says, and one for what is not the API's. */
  async valueOf(answer: IncomingMessage): Promise<unknown> {
    const status = answer.statusCode ?? 0
    if (status < 200 || status >= 300) throw await this.faultOf(answer)
    const text = await textOf(answer)
    if (text === '') return null
    const value = parsed(text)
    if (value === undefined) throw this.#notOurs()
    return value
  }

  #notOurs(): Fault {
    return new Fault(EXIT.noConnection, `${this.url} does not answer like Deployer; check the address`)
  }

  #authorization(): Record<string, string> {
    return this.server.token === null ? {} : { authorization: `Bearer ${this.server.token}` }
  }

  /** The nearest name, where the message names something that does not exist. */
  async #nearest(message: string): Promise<string> {
    const [, kind, name, environment] = MISSING.exec(message) ?? []
    if (kind === undefined || name === undefined) return ''
    const all = await this.get<{ name: string }[]>(COLLECTIONS[kind]!, { environment }).catch(() => [])
    return didYouMean(
      name,
      all.map((each) => each.name),
    )
  }

  #debug(method: string, path: string, outcome: string, began: number, id: unknown = ''): void {
    if (!this.#isDebug) return
    const milliseconds = Math.round(performance.now() - began)
    const shown = path.replace(/access_token=[^&]*/, 'access_token=…')
    process.stderr.write(`${method} ${shown} ${outcome} ${milliseconds} ms ${String(id)}`.trimEnd() + '\n')
  }
}

/** Connects to the server of a command. Throws Fault without one, or without a token. */
export async function connect(call: Call): Promise<Api> {
  const server = chooseServer(call)
  if (server.token === null) {
    const advice =
      server.tokenFrom === 'this machine'
        ? `or set DEPLOYER_HOST=${server.url} and DEPLOYER_TOKEN to the token that it was started with`
        : 'or set DEPLOYER_TOKEN'
    throw new Fault(
      EXIT.notSignedIn,
      `not signed in to ${server.url}; deployer login ${server.url}, ${advice}`,
    )
  }
  return connectTo(server, call)
}

/** Connects to a server, with a token or without. */
export async function connectTo(server: Server, call: Call): Promise<Api> {
  const options = { isDebug: call.has('debug') }
  if (!server.url.startsWith('ssh://')) return new Api(server, httpTransport(server), options)
  const { sshTransport } = await import('./ssh.ts')
  return new Api(server, await sshTransport(server, call), options)
}

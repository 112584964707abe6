import Docker from 'dockerode'
import type { Duplex, Readable } from 'node:stream'
import { AppError } from '#server/errors.ts'
import { engineFault, statusOf, type EnginePlace } from './faults.ts'
import { socketOf } from './socket.ts'
import { TerseAgent } from './terse-agent.ts'

/** The timeout of calls that are not streams; creating a container on a busy host takes a while. */
const CALL_TIMEOUT_MS = 120_000
/** The newest API version whose answers this code knows. */
const NEWEST_API = '1.51'
/** The API of Docker 20.10 and of Podman's compatibility layer. */
const OLDEST_API = '1.40'
/** What another machine answers may be made up, and must not exhaust the memory. */
const MAX_ANSWER_OF_NODE_BYTES = 16 * 1024 * 1024
/** The lowest status that means that the engine cannot answer any client. */
const SERVER_ERROR = 500

export interface EngineVersion {
  version: string
  apiVersion: string
  name: 'docker' | 'podman'
}

/** A raw request, where dockerode has no method. */
interface Dial {
  method: 'GET' | 'POST'
  /** Ends with `?` when there is a query. */
  path: string
  query?: Record<string, unknown>
  headers?: Record<string, string>
  signal?: AbortSignal
  timeoutMs?: number
}

/** A connection to the engine's socket. Negotiates the API version once, gives each call a deadline, and explains errors. */
export class Connection {
  readonly socketPath: string
  readonly #nodeName: (() => string) | undefined
  readonly #docker: Docker
  #version: Promise<EngineVersion> | null = null

  /** `nodeName` says what the node is called whose engine it is; none for the server's own. */
  constructor(dockerHost: string | undefined, nodeName?: () => string) {
    this.#nodeName = nodeName
    this.socketPath = socketOf(dockerHost)
    // Each call gets a connection of its own, since the engine may restart between two.
    const agent = new TerseAgent(
      { keepAlive: false },
      { maxAnswerBytes: nodeName === undefined ? null : MAX_ANSWER_OF_NODE_BYTES },
    )
    // All options are given, since dockerode would take missing ones from DOCKER_HOST.
    const options = { socketPath: this.socketPath, host: undefined, protocol: 'http' as const, agent }
    this.#docker = new Docker(options)
  }

  /** Where the engine is, for error messages. */
  get place(): EnginePlace {
    return { socketPath: this.socketPath, node: this.#nodeName?.() ?? null }
  }

  /** Asks the engine for its version again. Throws `runtime_error` when it does not answer in `timeoutMs`. */
  async meet(timeoutMs: number): Promise<EngineVersion> {
    this.#version = null
    return this.#agree(timeoutMs)
  }

  /** Whether the engine answers within `timeoutMs`. Does not ask for its version, for which the engine runs programs. */
  async answers(timeoutMs: number): Promise<boolean> {
    try {
      await withDeadline(timeoutMs, undefined, (abortSignal) =>
        this.#dial(this.#docker, { method: 'GET', path: '/_ping', abortSignal }),
      )
      return true
    } catch (error) {
      // An engine that does not know the request does answer.
      return (statusOf(error) ?? SERVER_ERROR) < SERVER_ERROR
    }
  }

  /**
   * Makes one call. `doing` begins error messages. A returned stream ends with the caller's signal; the deadline applies
   * only until it begins. Throws `runtime_error`, or the reason of the caller's signal.
   */
  async call<T>(
    doing: string,
    work: (docker: Docker, signal: AbortSignal) => Promise<T>,
    { signal, timeoutMs = CALL_TIMEOUT_MS }: { signal?: AbortSignal; timeoutMs?: number } = {},
  ): Promise<T> {
    signal?.throwIfAborted()
    try {
      return await withDeadline(timeoutMs, signal, async (limited) => {
        // Counts towards the deadline too, since an engine that answers nothing does not answer this request either.
        await this.#agree(CALL_TIMEOUT_MS)
        limited.throwIfAborted()
        return work(this.#docker, limited)
      })
    } catch (error) {
      signal?.throwIfAborted()
      throw engineFault(doing, this.place, error)
    }
  }

  /** Like `call`, but returns null when the engine answers 404. */
  async find<T>(
    doing: string,
    work: (docker: Docker, signal: AbortSignal) => Promise<T>,
    options: { signal?: AbortSignal; timeoutMs?: number } = {},
  ): Promise<T | null> {
    const tolerant = async (docker: Docker, signal: AbortSignal): Promise<T | null> => {
      try {
        return await work(docker, signal)
      } catch (error) {
        if (statusOf(error) === 404) return null
        throw error
      }
    }
    return this.call(doing, tolerant, options)
  }

  /** Sends a raw request and returns the JSON of its answer. */
  dial(doing: string, { method, path, query, signal, timeoutMs }: Dial): Promise<unknown> {
    return this.call(
      doing,
      (docker, abortSignal) => this.#dial(docker, { method, path, options: query, abortSignal }),
      { signal, timeoutMs },
    )
  }

  /** Sends a raw request and returns the body of its answer as a stream, which ends with the caller's signal. */
  stream(doing: string, { method, path, query, signal }: Dial): Promise<Readable> {
    return this.call(
      doing,
      async (docker, abortSignal) =>
        (await this.#dial(docker, { method, path, options: query, isStream: true, abortSignal })) as Readable,
      { signal },
    )
  }

  /** Sends a request that upgrades the connection to another protocol; null when the engine does not support it. */
  async upgrade(doing: string, { method, path, headers, signal }: Dial): Promise<Duplex | null> {
    return this.call(
      doing,
      async (docker, abortSignal) => {
        try {
          return (await this.#dial(docker, { method, path, headers, hijack: true, abortSignal })) as Duplex
        } catch (error) {
          if (statusOf(error) !== null) return null
          throw error
        }
      },
      { signal },
    )
  }

  /** The negotiated version; negotiates it if that was not done yet. */
  version(): Promise<EngineVersion> {
    return this.#agree(CALL_TIMEOUT_MS)
  }

  #agree(timeoutMs: number): Promise<EngineVersion> {
    this.#version ??= this.#negotiate(timeoutMs).catch((error: unknown) => {
      this.#version = null
      throw engineFault('asking the engine for its version', this.place, error)
    })
    return this.#version
  }

  async #negotiate(timeoutMs: number): Promise<EngineVersion> {
    const modem = this.#docker.modem as unknown as { version?: string }
    delete modem.version
    const answer = (await withDeadline(timeoutMs, undefined, (abortSignal) =>
      this.#dial(this.#docker, { method: 'GET', path: '/version', abortSignal }),
    )) as { Version: string; ApiVersion: string; MinAPIVersion?: string; Components?: { Name: string }[] }
    const newest = minorOf(answer.ApiVersion)
    if (newest < minorOf(OLDEST_API)) {
      throw new AppError(
        'runtime_error',
        `the container engine ${answer.Version} is too old: Docker 20.10 or newer is needed`,
      )
    }
    const chosen = Math.max(
      Math.min(newest, minorOf(NEWEST_API)),
      minorOf(answer.MinAPIVersion ?? OLDEST_API),
    )
    const apiVersion = `1.${chosen}`
    modem.version = `v${apiVersion}`
    const isPodman = answer.Components?.some(({ Name }) => Name.startsWith('Podman')) ?? false
    return { version: answer.Version, apiVersion, name: isPodman ? 'podman' : 'docker' }
  }

  #dial(docker: Docker, options: Record<string, unknown>): Promise<unknown> {
    const statusCodes = { 101: true, 200: true, 201: true, 204: true }
    return new Promise((resolve, reject) => {
      docker.modem.dial({ ...options, statusCodes } as never, (error: unknown, data: unknown) => {
        if (error) reject(asError(error))
        else resolve(data)
      })
    })
  }
}

/** Runs work with a signal that aborts with the caller's signal, or with a TimeoutError when the time is up. */
async function withDeadline<T>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  work: (limited: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new DOMException('no answer in time', 'TimeoutError')), timeoutMs)
  const limited = signal ? AbortSignal.any([signal, late.signal]) : late.signal
  try {
    // Do not rely on the work: dockerode never notices when an answer is cut off.
    return await new Promise<T>((resolve, reject) => {
      limited.addEventListener('abort', () => reject(asError(limited.reason)), { once: true })
      work(limited).then(resolve, reject)
    })
  } catch (error) {
    throw late.signal.aborted ? late.signal.reason : error
  } finally {
    clearTimeout(timer)
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason))
}

/** The second number of an API version: 1.41 is 41. */
export function minorOf(version: string): number {
  return Number(version.split('.')[1])
}

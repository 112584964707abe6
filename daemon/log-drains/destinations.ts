import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { once } from 'node:events'
import { connect as connectTls } from 'node:tls'
import { bareHost } from '#server/network/addresses.ts'
import type { DrainKind } from '#server/log-drains/schema.ts'
import { judgedPlace, DESTINATIONS } from '#server/network/judged.ts'
import { answerFault, send } from '#server/network/outgoing.ts'
import { readRetryAfter } from '#server/network/answers.ts'
import { bodyOf, type DrainLine, type Origin } from './formats.ts'

/** A connection or write that takes longer has failed. */
const STALL_MS = 15_000

/** A destination refused these lines and will not accept them however often they are sent. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  /** Whether a smaller batch may be accepted (RFC 9110 section 15.5.14). */
  readonly isTooLarge: boolean

  constructor(message: string, isTooLarge: boolean) {
    super(message)
    this.isTooLarge = isTooLarge
  }
}

/** A destination does not accept lines now, and may have said for how long. */
export class TargetUnavailable extends Error {
  override readonly name = 'TargetUnavailable'
  readonly waitMs: number

  constructor(message: string, waitMs: number) {
    super(message)
    this.waitMs = waitMs
  }
}

/** Statuses that the same lines would get again: bad request, content too large, unprocessable (RFC 9110 section 15.5). */
const REFUSALS = [400, 413, 422]
const TOO_LARGE = 413

/** A destination for lines. */
export interface DrainDestination {
  /** Sends lines of one origin. Throws if they were not accepted, a `Refusal` if they never will be. */
  send(origin: Origin, lines: readonly DrainLine[], signal: AbortSignal): Promise<void>
  close(): void
}

/** Returns the destination of a drain. */
export function openDrainDestination(kind: DrainKind, url: string, token: string | null): DrainDestination {
  return kind === 'syslog' ? new SyslogDestination(new URL(url)) : new HttpDestination(kind, url, token)
}

/** The default paths for URLs without one: OTLP/HTTP ("Endpoint URLs") and Loki's HTTP API ("Ingest logs"). */
const USUAL_PATHS = { http: '/', loki: '/loki/api/v1/push', otlp: '/v1/logs' }

class HttpDestination implements DrainDestination {
  readonly #kind: Exclude<DrainKind, 'syslog'>
  readonly #url: string
  readonly #token: string | null
  readonly #headers: Record<string, string>

  constructor(kind: Exclude<DrainKind, 'syslog'>, url: string, token: string | null) {
    const target = new URL(url)
    if (target.pathname === '/') target.pathname = USUAL_PATHS[kind]
    this.#kind = kind
    this.#url = target.href
    this.#token = token
    this.#headers = {
      'content-type': kind === 'http' ? 'application/x-ndjson' : 'application/json',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    }
  }

  async send(origin: Origin, lines: readonly DrainLine[], signal: AbortSignal): Promise<void> {
    const body = bodyOf(this.#kind, origin, lines)
    const answer = await send({ method: 'POST', url: this.#url, headers: this.#headers, body, signal })
    // Some destinations repeat the request in their answer.
    const text = this.#token === null ? answer.text : answer.text.replaceAll(this.#token, '***')
    const fault = answerFault({ ...answer, text })
    if (fault === null) return
    if (REFUSALS.includes(answer.status)) throw new Refusal(fault, answer.status === TOO_LARGE)
    throw new TargetUnavailable(fault, readRetryAfter(answer.retryAfter) ?? 0)
  }

  close(): void {}
}

/** Syslog over TCP or TLS (RFC 6587 section 3.4.1, RFC 5425): one connection, no answers. */
class SyslogDestination implements DrainDestination {
  readonly #url: URL
  #socket: Socket | null = null

  constructor(url: URL) {
    this.#url = url
  }

  async send(origin: Origin, lines: readonly DrainLine[], signal: AbortSignal): Promise<void> {
    const socket = await this.#connected(signal)
    const stop = AbortSignal.any([signal, AbortSignal.timeout(STALL_MS)])
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const fail = () => reject(new Error('the connection was closed before everything was sent'))
    const stall = () =>
      reject(new Error(`the destination did not accept the lines within ${STALL_MS / 1_000} s`))
    socket.once('close', fail)
    stop.addEventListener('abort', stall, { once: true })
    socket.write(bodyOf('syslog', origin, lines), (error) => (error ? reject(error) : resolve()))
    try {
      await promise
    } catch (error) {
      this.close()
      throw error
    } finally {
      socket.off('close', fail)
      stop.removeEventListener('abort', stall)
    }
  }

  close(): void {
    this.#socket?.destroy()
    this.#socket = null
  }

  async #connected(signal: AbortSignal): Promise<Socket> {
    if (this.#socket && !this.#socket.destroyed && this.#socket.writable) return this.#socket
    const host = bareHost(this.#url.hostname)
    // Not HTTP, but connected to by the same rules as everything that is sent to an address from a user.
    const options = judgedPlace(host, Number(this.#url.port), DESTINATIONS)
    const isTls = this.#url.protocol === 'tls:'
    // An address must not be sent as server name (RFC 6066 section 3); the certificate is verified against it anyway.
    const name = isIP(host) === 0 ? { servername: host } : {}
    const socket = isTls ? connectTls({ ...options, ...name }) : connectTcp(options)
    // Each use handles errors itself; an error between two uses must not crash the server.
    socket.on('error', () => {})
    // Its data is not needed, but without reading the end of the connection would not be noticed.
    socket.resume().on('end', () => socket.destroy())
    this.#socket = socket
    await once(socket, isTls ? 'secureConnect' : 'connect', {
      signal: AbortSignal.any([signal, AbortSignal.timeout(STALL_MS)]),
    }).catch((error: Error) => {
      this.close()
      if (error.name !== 'AbortError') throw error
      throw new Error(`no connection within ${STALL_MS / 1_000} s`, { cause: error })
    })
    return socket
  }
}

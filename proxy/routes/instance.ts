import { tokenOf } from '../edge/affinity.ts'
import type { Upstream as UpstreamSpec } from '../protocol.ts'
import { Pool } from '../upstream/pool.ts'
import type { Upstream } from '../upstream/upstream.ts'

/** After how many refused connections in a row an instance is ejected from the choice, and for how long. */
const EJECT_AFTER_FAILURES = 2
const EJECT_MS = 10_000

/** One upstream address of a target with its pool of idle connections; it outlives table changes that keep it. */
export class Instance {
  readonly name: string
  readonly host: string
  readonly port: number
  /** The number of requests and upgraded connections under way. */
  open = 0
  /** Whether it gets no new requests or has left the table; connections to it end with their request. */
  draining: boolean
  /** Idle connections, and callers that wait for `open` to reach 0: most instances of a large table never have either. */
  #idle: Pool | null = null
  #whenIdle: (() => void)[] | null = null
  #failures = 0
  #token: string | null = null
  #ejectedUntil = 0

  constructor(spec: UpstreamSpec) {
    this.name = spec.instance
    this.host = spec.host
    this.port = spec.port
    this.draining = spec.draining === true
  }

  /** Whether this is the instance of an upstream in a table. */
  is({ instance, host, port }: UpstreamSpec): boolean {
    return this.name === instance && this.host === host && this.port === port
  }

  /** Stands for it in cookies. */
  get token(): string {
    return (this.#token ??= tokenOf(this.name))
  }

  /** Notes that a connection was refused or timed out. `now` is monotonic milliseconds. */
  failed(now: number): void {
    if (++this.#failures >= EJECT_AFTER_FAILURES) this.#ejectedUntil = now + EJECT_MS
  }

  connected(): void {
    this.#failures = 0
    this.#ejectedUntil = 0
  }

  ejected(now: number): boolean {
    return this.#ejectedUntil > now
  }

  /** Ends a request that began with `open++`. */
  release(): void {
    if (--this.open > 0 || this.#whenIdle === null) return
    const waiting = this.#whenIdle
    this.#whenIdle = null
    for (const done of waiting) done()
  }

  /** Calls `done` when no request is open. */
  whenIdle(done: () => void): void {
    if (this.open === 0) done()
    else (this.#whenIdle ??= []).push(done)
  }

  /** Returns a usable kept connection for such a request, if there is one. `now` is monotonic milliseconds. */
  takeIdle(now: number, replayable: boolean): Upstream | null {
    return this.#idle?.take(now, replayable) ?? null
  }

  /** Keeps a connection for the next request, unless there will be none. `now` is monotonic milliseconds. */
  park(upstream: Upstream, now: number): void {
    if (this.draining) upstream.destroy()
    else (this.#idle ??= new Pool()).park(upstream, now)
  }

  /** Closes connections that were idle too long. */
  expireIdle(now: number): void {
    this.#idle?.expire(now)
  }

  /** Closes all idle connections. */
  closeIdle(): void {
    this.#idle?.close()
  }

  /** Closes one idle connection of a draining instance; false if there is none. */
  closeOneIdle(): boolean {
    return this.draining && this.#idle !== null && this.#idle.closeOne()
  }
}

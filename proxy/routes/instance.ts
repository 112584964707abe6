import type { Upstream as UpstreamSpec } from '../protocol.ts'
import { Pool } from '../upstream/pool.ts'
import type { Upstream } from '../upstream/upstream.ts'

/** Refused connections in a row after which an instance leaves the choice, and for how long. */
const EJECT_AFTER_FAILURES = 2
const EJECT_MS = 10_000

/** One upstream address of a target with its pool of idle connections; it outlives table changes that keep it. */
export class Instance {
  readonly name: string
  readonly host: string
  readonly port: number
  /** Requests and upgraded connections under way. */
  open = 0
  /** Gets no new request, or is out of the table; connections to it end with their request. */
  draining = false
  readonly idle = new Pool()
  /** Called when `open` reaches 0. */
  whenIdle: (() => void)[] = []
  #failures = 0
  #ejectedUntil = 0

  constructor(spec: UpstreamSpec) {
    this.name = spec.instance
    this.host = spec.host
    this.port = spec.port
  }

  /** Whether an upstream of a table is this one. */
  is({ instance, host, port }: UpstreamSpec): boolean {
    return this.name === instance && this.host === host && this.port === port
  }

  /** A connection was refused or timed out. `now` is monotonic milliseconds. */
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

  /** Ends a request begun with `open++`. */
  release(): void {
    if (--this.open > 0 || this.whenIdle.length === 0) return
    const waiting = this.whenIdle
    this.whenIdle = []
    for (const done of waiting) done()
  }

  /** Keeps a connection for the next request, unless there will be none. `now` is monotonic milliseconds. */
  park(upstream: Upstream, now: number): void {
    if (this.draining) upstream.destroy()
    else this.idle.park(upstream, now)
  }

  /** Closes the idle connections of an instance that is draining, one at a time. */
  *closingIdle(): Generator<void> {
    while (this.draining && this.idle.closeOne()) yield
  }
}

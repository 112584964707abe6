import type { Keeper, Upstream } from './upstream.ts'

/** Max idle connections to one instance that a worker keeps. */
const MAX_IDLE_CONNECTIONS = 256
/**
 * After this long the instance may be about to close a connection, and a request that must not be sent twice could be lost.
 */
const FRESH_MS = 1_000

/** The idle connections to one instance. */
export class Pool implements Keeper {
  /** The last one used is at the end. */
  #idle: Upstream[] = []

  /**
   * Takes a usable connection out; `replayable` says whether the request may be sent again. `now` is monotonic milliseconds.
   */
  take(now: number, replayable: boolean): Upstream | null {
    const newest = this.#idle.at(-1)
    if (!replayable && newest && now - newest.idleSince > FRESH_MS) return null
    for (let upstream = this.#idle.pop(); upstream; upstream = this.#idle.pop()) {
      if (upstream.expiresAt > now && upstream.wire.takesWrites) return upstream
      upstream.destroy()
    }
    return null
  }

  /** Keeps a connection, or closes it if it cannot be used again. `now` as in `take`. */
  park(upstream: Upstream, now: number): void {
    if (this.#idle.length < MAX_IDLE_CONNECTIONS && upstream.rest(now, this)) this.#idle.push(upstream)
    else upstream.destroy()
  }

  /** Closes connections that were idle too long. */
  expire(now: number): void {
    while (this.#idle.length > 0 && this.#idle[0]!.expiresAt <= now) this.#idle.shift()!.destroy()
  }

  lost(upstream: Upstream): void {
    const position = this.#idle.indexOf(upstream)
    if (position >= 0) this.#idle.splice(position, 1)
  }

  /** Closes all. */
  close(): void {
    while (this.closeOne());
  }

  /** Closes one; false if there is none. */
  closeOne(): boolean {
    const upstream = this.#idle.pop()
    upstream?.destroy()
    return upstream !== undefined
  }
}

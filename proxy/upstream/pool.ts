import type { Keeper, Upstream } from './upstream.ts'

/** Idle connections to one instance that a worker keeps. */
const MAX_IDLE_CONNECTIONS = 256

/** The idle connections to one instance. */
export class Pool implements Keeper {
  /** The one used last at the end. */
  #idle: Upstream[] = []

  /** Takes a usable connection out. `now` is monotonic milliseconds. */
  take(now: number): Upstream | null {
    for (let upstream = this.#idle.pop(); upstream; upstream = this.#idle.pop()) {
      if (upstream.expiresAt > now && upstream.wire.takesWrites) return upstream
      upstream.destroy()
    }
    return null
  }

  /** Keeps a connection, or closes it where it could not be used again. `now` as in `take`. */
  park(upstream: Upstream, now: number): void {
    if (this.#idle.length < MAX_IDLE_CONNECTIONS && upstream.rest(now, this)) this.#idle.push(upstream)
    else upstream.destroy()
  }

  /** Closes those that idled too long. */
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

  /** Closes one; false when there is none. */
  closeOne(): boolean {
    const upstream = this.#idle.pop()
    upstream?.destroy()
    return upstream !== undefined
  }
}

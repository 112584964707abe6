import { monotonicMs } from '../clock.ts'
import type { Instance } from '../routes/instance.ts'
import type { TargetRoute } from '../routes/target-route.ts'
import { Upstream, type UpstreamClient } from '../upstream/upstream.ts'

/** Sends the requests of a client, one after another, to instances: over a kept connection or a new one. */
export class Delivery {
  /** The connection that serves the current request. */
  upstream: Upstream | null = null
  instance: Instance | null = null
  readonly #client: UpstreamClient
  #retried = false
  #probed = false

  constructor(client: UpstreamClient) {
    this.#client = client
  }

  /**
   * Begins with the head that is in the slab up to `headEnd`; `replayable` says whether the request may be sent again. False
   * if the connection is not open yet. `now` is monotonic milliseconds.
   */
  begin(instance: Instance, headEnd: number, replayable: boolean, now: number): boolean {
    this.#retried = false
    this.#probed = false
    const kept = instance.takeIdle(now, replayable)
    const upstream = kept ?? new Upstream()
    this.#attach(upstream, instance)
    kept?.reuse(this.#client)
    upstream.sendHead(headEnd, this.#client.wire)
    if (!kept) upstream.open(instance.host, instance.port, this.#client)
    return kept !== null
  }

  /**
   * Tries again after the connection ended, in two cases. If connecting to the instance failed, nothing was sent: another
   * instance is tried. If a kept connection died before it answered a request that may be sent again (RFC 9110 9.2.2), a new
   * connection is tried, to another healthy instance if there is one. False if neither applies.
   */
  retry(target: TargetRoute | null, replayable: boolean): boolean {
    const failed = this.upstream!
    const now = monotonicMs()
    if (!failed.connected) this.instance!.failed(now)
    if (this.#retried || !target || failed.answered) return false
    if (failed.connected && !(failed.reused && replayable)) return false
    const other = target.choose(now, this.instance)
    const instance = failed.connected && (!other || other.ejected(now)) ? target.choose(now, null) : other
    if (!instance) return false
    this.#retried = true
    const upstream = new Upstream()
    upstream.resendFrom(failed)
    this.drop()
    this.#attach(upstream, instance)
    upstream.open(instance.host, instance.port, this.#client)
    return true
  }

  /** The answer is complete: keeps the connection if the whole request was sent. */
  finish(whole: boolean, now: number): void {
    const { instance } = this
    const upstream = this.#detach()
    if (!upstream) return
    if (whole) instance!.park(upstream, now)
    else upstream.destroy()
  }

  /** Ends the connection of the current request, if there is one. */
  drop(): void {
    this.#detach()?.destroy()
  }

  /** Makes TCP check, once per request, whether the instance is still there. False if it did so before. */
  probe(): boolean {
    if (this.#probed) return false
    this.#probed = true
    this.upstream!.wire.keepAlive()
    return true
  }

  #attach(upstream: Upstream, instance: Instance): void {
    this.upstream = upstream
    this.instance = instance
    instance.open++
  }

  #detach(): Upstream | null {
    const { upstream, instance } = this
    if (!upstream) return null
    this.upstream = null
    this.instance = null
    upstream.client = null
    upstream.wire.releaseSource()
    instance!.release()
    return upstream
  }
}

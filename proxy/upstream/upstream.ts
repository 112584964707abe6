import { slab } from '../wire/slab.ts'
import { SocketWire } from '../wire/socket-wire.ts'
import type { Wire, WireOwner } from '../wire/wire.ts'
import { AnswerRelay, type Recipient } from './answer-relay.ts'
import { KeptRequest } from './kept-request.ts'

/** The client whose request an upstream connection serves. */
export interface UpstreamClient extends Recipient {
  readonly ended: boolean
  /** The connection is open. */
  upstreamConnected(): void
  /** Bytes came although the client has sent FIN. */
  upstreamActive(): void
  /** The upstream's half of a tunnel has ended. */
  upstreamEnded(): void
  /** The connection ended before the answer did. */
  upstreamGone(upstream: Upstream): void
  /** Ends it because of a fault in this program. */
  cut(): void
}

/** Keeps idle connections. */
export interface Keeper {
  /** A kept connection has ended. */
  lost(upstream: Upstream): void
}

/** One connection to an instance: idle in its pool, or serving one client's request. */
export class Upstream implements WireOwner {
  readonly wire = new SocketWire()
  client: UpstreamClient | null = null
  connected = false
  /** Whether it has served a request before: the instance may then close it at any moment. */
  reused = false
  /** Whether something of the answer has arrived: the request must not be sent again. */
  answered = false
  /** Monotonic milliseconds until which an idle connection can be used. */
  expiresAt = 0
  /** Monotonic milliseconds at which it became idle. */
  idleSince = 0
  #answer = new AnswerRelay(this.wire)
  #kept = new KeptRequest()
  #keeper: Keeper | null = null

  constructor() {
    this.wire.owner = this
  }

  /** Starts to connect for `client`; what is sent in the meantime is kept until the connection is open. */
  open(host: string, port: number, client: UpstreamClient): void {
    this.client = client
    this.wire.connect(host, port, () => {
      this.connected = true
      if (!this.client) return this.destroy()
      if (this.#kept.writeTo(this.wire)) this.client.wire.resume()
      else this.wire.holdBack(this.client.wire)
      // Resuming the client may have shown that it has left.
      this.client?.upstreamConnected()
    })
  }

  /** Sends the request head that is in the slab up to `end`. */
  sendHead(end: number, from: Wire): void {
    this.#kept.clear()
    this.#kept.add(slab.buffer, slab.at, end)
    // If this head cannot be sent, what came before it is not an answer to it.
    this.wire.readsBeforeEnd = false
    if (this.connected && !this.wire.writeSlab(end)) this.wire.holdBack(from)
  }

  /** Sends a piece of the request body. */
  send(input: Buffer, start: number, end: number, from: Wire): void {
    if (this.connected) {
      if (this.wire.takesWrites) this.wire.readsBeforeEnd = true
      return this.wire.relay(input, start, end, from)
    }
    this.#kept.add(input, start, end)
    from.pause()
  }

  /** Sends what a failed upstream was to send. */
  resendFrom(failed: Upstream): void {
    this.#kept = failed.#kept
  }

  /** Returns the kept request head, which says what kind of page the client prefers. */
  keptHead(): string {
    return this.#kept.text
  }

  /** Begins to serve `client` on a kept connection. */
  reuse(client: UpstreamClient): void {
    this.client = client
    this.reused = true
    this.answered = false
    this.#keeper = null
  }

  /** Becomes idle; false if it cannot be used again. `now` is monotonic milliseconds. */
  rest(now: number, keeper: Keeper): boolean {
    if (!this.#answer.keepsConnection || this.wire.pending || !this.wire.takesWrites) return false
    this.#answer.reset()
    this.#kept.shrink()
    this.#kept.clear()
    this.#keeper = keeper
    this.idleSince = now
    this.expiresAt = now + this.#answer.reuseMs
    this.wire.stream(false)
    this.wire.resume()
    return true
  }

  destroy(): void {
    this.client = null
    this.#answer.drop()
    this.wire.destroy()
  }

  onRead(input: Buffer, length: number): void {
    const client = this.client
    // Unsolicited bytes would be taken for the answer to the next request, which may be from another client.
    if (!client) return this.destroy()
    this.answered = true
    if (client.ended) client.upstreamActive()
    this.#answer.read(client, input, length)
  }

  onDrain(): void {}

  cut(): void {
    const { client } = this
    this.destroy()
    client?.cut()
  }

  onEnd(): void {
    const client = this.client
    if (client && this.#answer.isTunnel) return client.upstreamEnded()
    if (client) this.#answer.ended(client)
    this.onClose()
  }

  onClose(): void {
    const { client } = this
    // Once all of the answer has arrived, even if only by this end, the upstream is not needed any more.
    if (client && this.#answer.isWhole) return this.wire.destroy()
    if (client) client.upstreamGone(this)
    else this.#keeper?.lost(this)
    this.destroy()
  }
}

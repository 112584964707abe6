import { slab } from '../wire/slab.ts'
import { SocketWire } from '../wire/socket-wire.ts'
import type { Wire, WireOwner } from '../wire/wire.ts'
import { AnswerRelay, type Recipient } from './answer-relay.ts'
import { KeptRequest } from './kept-request.ts'

/** Whose request an upstream connection serves. */
export interface UpstreamClient extends Recipient {
  readonly ended: boolean
  /** The connection stands. */
  upstreamConnected(): void
  /** Bytes came although the client has sent FIN. */
  upstreamActive(): void
  /** The upstream's half of a tunnel has ended. */
  upstreamEnded(): void
  /** The connection ended before the answer did. */
  upstreamGone(upstream: Upstream): void
  /** A fault of the relay's own concerns it. */
  cut(): void
}

/** Who keeps idle connections. */
export interface Keeper {
  /** A connection that was kept has ended. */
  lost(upstream: Upstream): void
}

/** One connection to an instance: idle in its pool, or serving one client's request. */
export class Upstream implements WireOwner {
  readonly wire = new SocketWire()
  client: UpstreamClient | null = null
  connected = false
  /** Served a request before: it may have been closed by the instance at any moment. */
  reused = false
  /** Something of the answer has come: the request must not be sent again. */
  answered = false
  /** Monotonic milliseconds at which an idle connection is of no use any more. */
  expiresAt = 0
  /** When it became idle. */
  idleSince = 0
  #answer = new AnswerRelay(this.wire)
  #kept = new KeptRequest()
  #keeper: Keeper | null = null

  constructor() {
    this.wire.owner = this
  }

  /** Starts to connect for `client`; what is sent meanwhile is kept until the connection stands. */
  open(host: string, port: number, client: UpstreamClient): void {
    this.client = client
    this.wire.connect(host, port, () => {
      this.connected = true
      if (!this.client) return this.destroy()
      if (this.#kept.writeTo(this.wire)) this.client.wire.resume()
      else this.wire.holdBack(this.client.wire)
      // Reading on, it may have left.
      this.client?.upstreamConnected()
    })
  }

  /** Sends the request head that stands in the slab up to `end`. */
  sendHead(end: number, from: Wire): void {
    this.#kept.clear()
    this.#kept.add(slab.buffer, slab.at, end)
    // What came before a head that cannot be sent was said to nobody: it must not become the answer.
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

  /** Sends again what an upstream before was to send. */
  resendFrom(failed: Upstream): void {
    this.#kept = failed.#kept
  }

  /** The kept request head, to see what kind of page its client likes. */
  keptHead(): string {
    return this.#kept.text
  }

  /** Begins to serve `client` on a connection that was kept. */
  reuse(client: UpstreamClient): void {
    this.client = client
    this.reused = true
    this.answered = false
    this.#keeper = null
  }

  /** Becomes idle, `now` being monotonic milliseconds; false when it cannot be used again. */
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
    // Bytes that nobody asked for: an answer to a request not sent yet would be given to the wrong client.
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
    // What is still compressed, or was whole by the end, needs the upstream no more.
    if (client && this.#answer.isWhole) return this.wire.destroy()
    if (client) client.upstreamGone(this)
    else this.#keeper?.lost(this)
    this.destroy()
  }
}

import type { Client } from '../relay/client.ts'
import type { WireOwner } from '../wire/wire.ts'

/** How an HTTP/2 client begins when it knows that the server speaks it (RFC 9113 3.4). HTTP/1.1 has no such method. */
const PREFACE = Buffer.from('PRI ')

/**
 * Owns a plain connection until its first bytes show which protocol the client speaks. A preface that arrives in smaller
 * pieces is not recognised: clients send it in one piece.
 */
export class FirstRead implements WireOwner {
  readonly #client: Client
  readonly #beginHttp2: () => WireOwner

  /** `client` handles HTTP/1.1, and connections that send nothing; `beginHttp2` returns the owner for HTTP/2. */
  constructor(client: Client, beginHttp2: () => WireOwner) {
    this.#client = client
    this.#beginHttp2 = beginHttp2
  }

  onRead(input: Buffer, length: number): void {
    const { wire } = this.#client
    const isHttp2 =
      length >= PREFACE.length && input.compare(PREFACE, 0, PREFACE.length, 0, PREFACE.length) === 0
    wire.owner = isHttp2 ? this.#beginHttp2() : this.#client
    wire.owner.onRead(input, length)
  }

  onDrain(): void {}

  onEnd(): void {
    this.#client.onEnd()
  }

  onClose(): void {
    this.#client.onClose()
  }

  cut(): void {
    this.#client.cut()
  }
}

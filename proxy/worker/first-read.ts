import type { Client } from '../relay/client.ts'
import type { WireOwner } from '../wire/wire.ts'

/** What a client says first that knows that HTTP/2 is spoken (RFC 9113 3.4); no method of HTTP/1.1 is called so. */
const PREFACE = Buffer.from('PRI ')

/**
 * Owns a plain connection until something comes over it, by which it is known what its client speaks. A preface that
 * comes in crumbs is not known as one: clients write it at once.
 */
export class FirstRead implements WireOwner {
  readonly #client: Client
  readonly #beginHttp2: () => WireOwner

  /** `client` deals with what is HTTP/1.1, and with one that says nothing; `beginHttp2` gives who takes its place. */
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

import { latin1 } from '../http1/bytes.ts'
import type { Wire } from '../wire/wire.ts'

/** Max memory for the copy of a request that is kept with an idle connection. */
const MAX_IDLE_BYTES = 16 * 1024
const FIRST_BYTES = 2 * 1024

/** A copy of what should be sent of a request: its connection may not be open yet, or may die before there is an answer. */
export class KeptRequest {
  #bytes: Buffer = Buffer.alloc(0)
  #length = 0

  add(bytes: Buffer, start: number, end: number): void {
    const needed = this.#length + end - start
    if (this.#bytes.length < needed) {
      const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, needed))
      this.#bytes.copy(larger, 0, 0, this.#length)
      this.#bytes = larger
    }
    bytes.copy(this.#bytes, this.#length, start, end)
    this.#length = needed
  }

  /** Empties the copy but keeps the memory for the next one. */
  clear(): void {
    this.#length = 0
  }

  /** Frees the memory of a large copy. */
  shrink(): void {
    if (this.#bytes.length > MAX_IDLE_BYTES) this.#bytes = Buffer.alloc(0)
  }

  /** Writes the copy. False: it is pending. */
  writeTo(wire: Wire): boolean {
    if (wire.write(this.#bytes, 0, this.#length)) return true
    // The next request must not overwrite what the kernel still reads.
    this.#bytes = Buffer.from(this.#bytes.subarray(0, this.#length))
    return false
  }

  get text(): string {
    return latin1(this.#bytes, 0, this.#length)
  }
}

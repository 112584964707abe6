import { latin1 } from '../http1/bytes.ts'
import type { Wire } from '../wire/wire.ts'

/** A copy of a request larger than this is not kept with an idle connection. */
const MAX_IDLE_BYTES = 16 * 1024
const FIRST_BYTES = 2 * 1024

/** A copy of what of a request was to be sent: its connection may not stand yet, or die before anything was answered. */
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

  /** Keeps nothing, but the memory for the next. */
  clear(): void {
    this.#length = 0
  }

  /** Gives back the memory that a large one took. */
  shrink(): void {
    if (this.#bytes.length > MAX_IDLE_BYTES) this.#bytes = Buffer.alloc(0)
  }

  /** Writes what is kept. False: it is pending. */
  writeTo(wire: Wire): boolean {
    if (wire.write(this.#bytes, 0, this.#length)) return true
    // The next request must not be put where the kernel still reads this one.
    this.#bytes = Buffer.from(this.#bytes.subarray(0, this.#length))
    return false
  }

  get text(): string {
    return latin1(this.#bytes, 0, this.#length)
  }
}

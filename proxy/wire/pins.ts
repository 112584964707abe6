import { held } from './held.ts'

/** Counts the clients that wait for bytes in shared memory. Once its owner has released it, they keep all of it alive. */
export class Pins {
  #count = 0
  #heldBytes = 0

  /** One more client waits for bytes in it. */
  add(): this {
    if (this.#count++ === 0) held.add(this.#heldBytes)
    return this
  }

  /** A client has taken its bytes. */
  leave(): void {
    if (--this.#count === 0) held.add(-this.#heldBytes)
  }

  /** Its owner has released it: from now on its bytes count as held for the waiting clients. */
  retire(bytes: number): void {
    this.#heldBytes = bytes
    if (this.#count > 0) held.add(bytes)
  }
}

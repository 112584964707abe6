import { held } from './held.ts'

/** Counts the clients that still wait for bytes in shared memory: after its owner has let go of it, all of it stays for them. */
export class Pins {
  #count = 0
  #heldBytes = 0

  /** One more client waits for bytes in it. */
  add(): this {
    if (this.#count++ === 0) held.add(this.#heldBytes)
    return this
  }

  /** One has taken them. */
  leave(): void {
    if (--this.#count === 0) held.add(-this.#heldBytes)
  }

  /** Its owner has let go of it: from now on its bytes are held for the clients that wait. */
  retire(bytes: number): void {
    this.#heldBytes = bytes
    if (this.#count > 0) held.add(bytes)
  }
}

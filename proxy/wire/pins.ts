import { held } from './held.ts'

/** Who has not taken what was sent from memory that others use as well, all of which stays for them when those let it go. */
export class Pins {
  #count = 0
  #heldBytes = 0

  /** One more has bytes in it that wait. */
  add(): this {
    if (this.#count++ === 0) held.add(this.#heldBytes)
    return this
  }

  /** One has taken them. */
  leave(): void {
    if (--this.#count === 0) held.add(-this.#heldBytes)
  }

  /** Nobody else uses it any more: so many bytes are held for those that wait. */
  retire(bytes: number): void {
    this.#heldBytes = bytes
    if (this.#count > 0) held.add(bytes)
  }
}

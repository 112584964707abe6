import { createHash } from 'node:crypto'

/**
 * A digest over the entries of a backup: names, sizes and contents, in order. The writer puts it into the last entry; the
 * reader compares.
 */
export class Digest {
  readonly #hash = createHash('sha256')
  entries = 0

  begin(name: string, size: number): void {
    this.entries++
    this.#hash.update(`${name}\0${size}\0`)
  }

  add(piece: Uint8Array): void {
    this.#hash.update(piece)
  }

  /** The digest in hex; nothing can be added then. */
  end(): string {
    return this.#hash.digest('hex')
  }
}

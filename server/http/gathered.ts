const FIRST_BYTES = 16 * 1024

/**
 * Joins pieces of bytes in one buffer. Pieces kept separately cost some hundred bytes each, so a client that sends a body
 * byte by byte could make it use a hundred times its size.
 */
export class Gathered {
  #buffer = Buffer.alloc(0)
  #size = 0

  add(piece: Buffer): void {
    const size = this.#size + piece.length
    if (size > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, size, 2 * this.#buffer.length))
      this.#buffer.copy(larger, 0, 0, this.#size)
      this.#buffer = larger
    }
    piece.copy(this.#buffer, this.#size)
    this.#size = size
  }

  /** All bytes so far. Valid until the next piece is added. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#size)
  }
}

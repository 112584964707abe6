const FIRST_BYTES = 16 * 1024

/**
 * Bytes that come in pieces, in one buffer: pieces kept apart cost some hundred bytes each, and who sends a body byte
 * by byte would have it grow in memory to a hundred times its size.
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

  /** Everything so far, valid until the next piece. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#size)
  }
}

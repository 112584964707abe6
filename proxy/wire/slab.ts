import { Pins } from './pins.ts'

/** A slab that slow receivers still hold is replaced, so each keeps at most this much alive. */
const SLAB_BYTES = 512 * 1024

/**
 * The buffer in which outgoing bytes are collected. After a write the kernel has usually taken everything, and the same
 * place is used again; otherwise the place moves past the bytes that libuv still reads.
 */
class Slab {
  buffer = Buffer.allocUnsafeSlow(SLAB_BYTES)
  at = 0
  /** The pins of the current buffer. */
  pins = new Pins()

  /** Makes room for `bytes` after `at`. */
  reserve(bytes: number): void {
    if (this.buffer.length - this.at >= bytes) return
    this.pins.retire(this.buffer.length)
    this.pins = new Pins()
    this.buffer = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, bytes))
    this.at = 0
  }
}

export const slab = new Slab()

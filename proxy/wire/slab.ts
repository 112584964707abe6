import { Pins } from './pins.ts'

/** Outgoing bytes wait here; a slab that slow receivers still hold is replaced, so one pins no more than this. */
const SLAB_BYTES = 512 * 1024

/**
 * Where outgoing bytes are put together. After `write` the kernel has usually taken all and the same place is used
 * again; when not, the place moves on past the bytes that libuv still reads.
 */
class Slab {
  buffer = Buffer.allocUnsafeSlow(SLAB_BYTES)
  at = 0
  /** Of the buffer. */
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

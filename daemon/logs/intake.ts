/**
 * The sustained rate at which a program may print: several times what the store must keep up with (20,000 lines a second),
 * and low enough that reading it leaves most of a core to the server.
 */
const BYTES_PER_SECOND = 12 * 1024 * 1024
/** How much it may print in a burst. */
const BURST_BYTES = 64 * 1024 * 1024

/** Limits the output of a program, so that one that prints endlessly does not fill the disk or use up a core. */
export class Intake {
  #left = BURST_BYTES
  #at = performance.now()

  /** Whether this many more bytes are accepted; if so, they are counted. */
  take(bytes: number): boolean {
    const now = performance.now()
    this.#left = Math.min(BURST_BYTES, this.#left + ((now - this.#at) / 1_000) * BYTES_PER_SECOND)
    this.#at = now
    if (this.#left < bytes) return false
    this.#left -= bytes
    return true
  }
}

/**
 * What a program may print on and on: several times what the store needs to keep up with (20,000 lines a second), and
 * little enough that taking it in leaves the server most of a core.
 */
const BYTES_PER_SECOND = 12 * 1024 * 1024
/** What it may print at once. */
const BURST_BYTES = 64 * 1024 * 1024

/** Measures what a program prints, so that one that prints without end fills no disk and takes no core. */
export class Intake {
  #left = BURST_BYTES
  #at = performance.now()

  /** Whether so many bytes more are taken in. */
  take(bytes: number): boolean {
    const now = performance.now()
    this.#left = Math.min(BURST_BYTES, this.#left + ((now - this.#at) / 1_000) * BYTES_PER_SECOND)
    this.#at = now
    if (this.#left < bytes) return false
    this.#left -= bytes
    return true
  }
}

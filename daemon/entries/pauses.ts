/** The waits before something that failed is tried again: each try may hold up others, so they grow. */
const PAUSES_MS = [1_000, 10_000, 60_000]
/** What was well for so long has recovered. */
const RECOVERED_MS = 120_000

/** When something that fails may be tried again. */
export class Pauses {
  #until = 0
  #failures = 0
  #wellSince: number | null = null

  /** Whether it is not to be tried yet. */
  get isOn(): boolean {
    return performance.now() < this.#until
  }

  /** Whether it has not failed since it was last well for long. */
  get isFirst(): boolean {
    return this.#failures === 0
  }

  succeeded(): void {
    this.#wellSince = performance.now()
  }

  failed(): void {
    const now = performance.now()
    if (this.#wellSince !== null && now - this.#wellSince > RECOVERED_MS) this.#failures = 0
    this.#wellSince = null
    this.#until = now + PAUSES_MS[Math.min(this.#failures++, PAUSES_MS.length - 1)]!
  }

  /** It may be tried at once. */
  forget(): void {
    this.#until = 0
    this.#failures = 0
    this.#wellSince = null
  }
}

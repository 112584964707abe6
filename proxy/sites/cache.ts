/** Max memory of a worker's cache for all sites together. */
const MAX_BYTES = 32 * 1024 * 1024

/** An entry that can be read from disk again. */
export interface Cached {
  /** Must not change while it is kept. */
  readonly bytes: number
  /** Set by its users. An entry that was used since the last check is kept for another round. */
  used: boolean
  /** The entry was removed from the cache. */
  dropped(): void
}

/**
 * Keeps the entries that are used most, up to a number of bytes (second chance: a queue in which used entries go round
 * again).
 */
export class Cache {
  #entries = new Set<Cached>()
  #bytes = 0

  add(entry: Cached): void {
    if (this.#entries.has(entry)) return
    this.#entries.add(entry)
    this.#bytes += entry.bytes
    while (this.#bytes > MAX_BYTES) this.#dropOne()
  }

  /** Removes an entry that is not needed any more. */
  remove(entry: Cached): void {
    if (!this.#entries.delete(entry)) return
    this.#bytes -= entry.bytes
    entry.dropped()
  }

  #dropOne(): void {
    for (const entry of this.#entries) {
      if (!entry.used) return this.remove(entry)
      entry.used = false
      this.#entries.delete(entry)
      this.#entries.add(entry)
    }
  }
}

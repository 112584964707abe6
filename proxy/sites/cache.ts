/** What a worker keeps in memory of all sites together. */
const MAX_BYTES = 32 * 1024 * 1024

/** Something that can be had again from the disk. */
export interface Cached {
  /** Does not change while it is kept. */
  readonly bytes: number
  /** Set by who uses it: what was used since it was looked at last is kept for another round. */
  used: boolean
  /** It is kept no more. */
  dropped(): void
}

/** Keeps what is used most within a bound of bytes (second chance: a queue whose used entries go round again). */
export class Cache {
  #entries = new Set<Cached>()
  #bytes = 0

  add(entry: Cached): void {
    if (this.#entries.has(entry)) return
    this.#entries.add(entry)
    this.#bytes += entry.bytes
    while (this.#bytes > MAX_BYTES) this.#dropOne()
  }

  /** Drops an entry that is of no more use. */
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

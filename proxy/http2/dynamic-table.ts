/** The max size of either side's table: the size that peers start with (RFC 9113 6.5.2). */
export const TABLE_BYTES = 4096
/** What an entry counts in addition to its text (RFC 7541 4.1). */
export const ENTRY_BYTES = 32
/** More entries cannot fit. */
const MAX_ENTRIES = TABLE_BYTES / ENTRY_BYTES

function ignore(): void {}

/** What was sent recently, newest first; it can be repeated by its index (RFC 7541 2.3.2). */
export class DynamicTable<Entry extends { readonly size: number }> {
  /** The number of entries ever inserted, which is the number of the newest one. */
  inserted = 0
  #count = 0
  #bytes = 0
  #limit = TABLE_BYTES
  readonly #ring: (Entry | undefined)[] = []
  readonly #onEvict: (entry: Entry, number: number) => void

  /** `onEvict` gets each entry that leaves, with its number. */
  constructor(onEvict: (entry: Entry, number: number) => void = ignore) {
    this.#onEvict = onEvict
  }

  /** Returns the entry at this distance from the newest, which is 0; undefined beyond the oldest. */
  get(index: number): Entry | undefined {
    if (index >= this.#count) return undefined
    return this.#ring[(this.inserted - index) % MAX_ENTRIES]
  }

  /** Inserts an entry, evicting the oldest; an entry that does not fit empties the table (RFC 7541 4.4). */
  insert(entry: Entry): void {
    this.#evict(this.#limit - entry.size)
    if (entry.size > this.#limit) return
    this.#ring[++this.inserted % MAX_ENTRIES] = entry
    this.#count++
    this.#bytes += entry.size
  }

  get limit(): number {
    return this.#limit
  }

  /** Sets the size limit, up to `TABLE_BYTES`. */
  set limit(bytes: number) {
    this.#limit = bytes
    this.#evict(bytes)
  }

  #evict(bytes: number): void {
    while (this.#count > 0 && this.#bytes > bytes) {
      const number = this.inserted - --this.#count
      const entry = this.#ring[number % MAX_ENTRIES]!
      this.#ring[number % MAX_ENTRIES] = undefined
      this.#bytes -= entry.size
      this.#onEvict(entry, number)
    }
  }
}

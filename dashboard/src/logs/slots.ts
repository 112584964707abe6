/**
 * Which elements show which rows. A row keeps its slot, and so its elements, as long as it is drawn; one that comes into view
 * takes over the elements of one that has left, which costs a fraction of making new ones.
 */
export class Slots {
  /** By the keys of the rows that were drawn last, in their order. */
  #slots = new Map<number, number>()
  #made = 0

  /** The slots of rows with these keys. Only if elements `mayPass` to other rows, those of rows that have left are used again. */
  of(keys: readonly number[], mayPass: boolean): number[] {
    const drawn = new Set(keys)
    const left = mayPass ? [...this.#slots].filter(([key]) => !drawn.has(key)).map(([, slot]) => slot) : []
    let used = 0
    const slots = keys.map((key) => this.#slots.get(key) ?? left[used++] ?? this.#made++)
    this.#slots = new Map(keys.map((key, at) => [key, slots[at]!]))
    return slots
  }
}

/** A row that is not as high as the usual one. */
interface Odd {
  key: number
  /** How much higher it is, in pixels. */
  extra: number
  /** How much higher all odd rows up to this one are together. */
  sum: number
}

/**
 * How high the rows of a log are, by keys that ascend from row to row. Only what differs from the usual height is kept, so
 * that a hundred thousand rows of one line cost nothing.
 */
export class RowHeights {
  /** The lowest key first. */
  #odd: Odd[] = []

  /** The extra height of all rows with a lower key. Only differences mean anything, since old rows are forgotten. */
  extraBefore(key: number): number {
    return this.#odd[this.#place(key) - 1]?.sum ?? this.#forgotten
  }

  /** Sets the extra height of a row; returns by how much it changed. */
  set(key: number, extra: number): number {
    const at = this.#place(key)
    const known = this.#odd[at]?.key === key ? this.#odd[at] : undefined
    const change = extra - (known?.extra ?? 0)
    if (change === 0) return 0
    if (known) known.extra = extra
    else this.#odd.splice(at, 0, { key, extra, sum: 0 })
    let sum = this.#odd[at - 1]?.sum ?? this.#forgotten
    for (const odd of this.#odd.slice(at)) odd.sum = sum += odd.extra
    return change
  }

  /** The sum of what was forgotten, from which later sums go on. */
  #forgotten = 0

  /** Forgets rows with a lower key, which were dropped. */
  forgetBefore(key: number): void {
    const count = this.#place(key)
    if (count > 0) this.#forgotten = this.#odd.splice(0, count).at(-1)!.sum
  }

  clear(): void {
    this.#odd = []
    this.#forgotten = 0
  }

  /** The index of the first odd row with this key or a higher one. */
  #place(key: number): number {
    return firstIndex(this.#odd.length, (index) => this.#odd[index]!.key >= key)
  }
}

/** The first of `count` indexes for which something holds that also holds for all after it; `count` if there is none. */
export function firstIndex(count: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, count]
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}

/** Enough to see a trend, and few enough to read. */
export const MAX_POINTS = 60

type Point = { at: string } & Record<string, number | string>
type Value<T> = (point: T) => number | null
type Join = (values: number[]) => number

/** The steps of a time range, put together so that they are at most 60. */
export class Window {
  readonly #from: number
  readonly #width: number
  /** The points by their place, with the values that have been added. */
  readonly #points = new Map<number, Map<string, number>>()

  constructor({ from, to }: { from: string; to: string }) {
    this.#from = Date.parse(from)
    this.#width = Math.max(1, Math.ceil((Date.parse(to) - this.#from) / MAX_POINTS))
  }

  /** Adds the mean of a series in each point, to the means of other series under that name. */
  add<T extends { at: string }>(name: string, series: readonly T[], value: Value<T>): void {
    this.#join(name, series, value, (values) => sumOf(values) / values.length)
  }

  /** Adds the sum of a series in each point. */
  addSum<T extends { at: string }>(name: string, series: readonly T[], value: Value<T>): void {
    this.#join(name, series, value, sumOf)
  }

  /** Adds the highest value of a series in each point. */
  addMost<T extends { at: string }>(name: string, series: readonly T[], value: Value<T>): void {
    this.#join(name, series, value, (values) => Math.max(...values))
  }

  /** The points that have values, oldest first. */
  points(): Point[] {
    return [...this.#points]
      .toSorted(([left], [right]) => left - right)
      .map(([place, values]) => ({
        at: new Date(this.#from + place * this.#width).toISOString(),
        ...Object.fromEntries([...values].map(([name, value]) => [name, Math.round(value * 100) / 100])),
      }))
  }

  #join<T extends { at: string }>(name: string, series: readonly T[], value: Value<T>, join: Join): void {
    const known = series.flatMap((point) => {
      const found = value(point)
      return found === null ? [] : [{ place: this.#placeOf(point.at), value: found }]
    })
    for (const [place, values] of Map.groupBy(known, (each) => each.place)) {
      const point = this.#points.get(place) ?? new Map<string, number>()
      this.#points.set(place, point)
      point.set(name, (point.get(name) ?? 0) + join(values.map((each) => each.value)))
    }
  }

  #placeOf(at: string): number {
    const place = Math.floor((Date.parse(at) - this.#from) / this.#width)
    return Math.min(MAX_POINTS - 1, Math.max(0, place))
  }
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}

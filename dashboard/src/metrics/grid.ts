/** The steps of a range, each with a place on the axis, even if nothing was measured in it. */
export interface Grid {
  /** Unix seconds, where each step starts. */
  at: number[]
  /** One value per step from points at the starts of steps; null where there is no point, which leaves a gap. */
  values<P extends { at: string }>(
    points: readonly P[],
    value: (point: P) => number | null,
  ): (number | null)[]
}

interface Range {
  from: string
  to: string
  step_seconds: number
}

/** The grid of a metrics history. */
export function gridOf({ from, to, step_seconds: step }: Range): Grid {
  const first = Date.parse(from) / 1_000
  const count = Math.floor((Date.parse(to) / 1_000 - first) / step) + 1
  return {
    at: Array.from({ length: count }, (_, index) => first + index * step),
    values(points, value) {
      const values: (number | null)[] = Array.from({ length: count }, () => null)
      for (const point of points) {
        const index = Math.round((Date.parse(point.at) / 1_000 - first) / step)
        if (index >= 0 && index < count) values[index] = value(point)
      }
      return values
    },
  }
}

/** The newest value that is known. */
export function lastOf(values: readonly (number | null)[]): number | null {
  return values.findLast((value) => value !== null) ?? null
}

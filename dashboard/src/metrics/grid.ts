import type { ChartLine } from './lines.ts'

interface Point {
  at: string
}

/** The steps of a range, each with a place on the axis, even if nothing was measured in it. */
export interface Grid {
  /** Unix seconds, where each step starts. */
  at: number[]
  /** One value per step from points at the starts of steps; null where there is no point, which leaves a gap. */
  values<P extends Point>(points: readonly P[], value: (point: P) => number | null): (number | null)[]
}

interface Range {
  from: string
  to: string
  step_seconds: number
}

/** With fewer steps, a single value would be as wide as the chart. */
const LEAST_STEPS = 12

/**
 * The grid of a metrics history. It begins where the first of its series does: what is younger than the range fills its
 * charts all the same.
 */
export function gridOf({ from, to, step_seconds: step }: Range, series: readonly (readonly Point[])[]): Grid {
  const start = Date.parse(from) / 1_000
  const steps = Math.floor((Date.parse(to) / 1_000 - start) / step) + 1
  const begins = series.flatMap(([point]) =>
    point ? [Math.floor((Date.parse(point.at) / 1_000 - start) / step)] : [],
  )
  const empty = begins.length === 0 ? 0 : Math.max(0, Math.min(...begins, steps - LEAST_STEPS))
  const first = start + empty * step
  const count = steps - empty
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

/** Between the readings of something that runs there is at most this much. */
const READING_SECONDS = 60

/** The kind of line that these points make: `ended` if what was measured no longer runs. */
export function kindOf({ to, step_seconds: step }: Range, points: readonly Point[]): 'ended' | undefined {
  const last = points.at(-1)
  if (last === undefined) return undefined
  const silence = (Date.parse(to) - Date.parse(last.at)) / 1_000
  return silence > step + READING_SECONDS ? 'ended' : undefined
}

/** An order with what has ended at the end, otherwise as it is. */
export function endedLast(left: Pick<ChartLine, 'kind'>, right: Pick<ChartLine, 'kind'>): number {
  return Number(left.kind === 'ended') - Number(right.kind === 'ended')
}

/** The newest value that is known. */
export function lastOf(values: readonly (number | null)[]): number | null {
  return values.findLast((value) => value !== null) ?? null
}

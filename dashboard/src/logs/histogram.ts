import type { LogHistogram } from '../api/types.ts'

/** From the bottom of a bar to its top: what is urgent stands on the axis, where few lines can be seen too. */
export const STACK = ['error', 'warn', 'info', 'debug'] as const
export type Level = (typeof STACK)[number]

/** A part of a bar, in hundredths of the height of the chart. */
export interface Stretch {
  level: Level
  y: number
  height: number
}

/** Lower parts of bars would be invisible. */
const LEAST_HEIGHT = 2

export interface Bar {
  at: string
  count: number
  stretches: Stretch[]
}

/** The bars of a histogram; the highest one fills the chart. */
export function barsOf({ buckets }: LogHistogram): Bar[] {
  const counts = buckets.map((bucket) => STACK.reduce((sum, level) => sum + bucket[level], 0))
  const most = Math.max(1, ...counts)
  return buckets.map((bucket, index) => {
    const levels = STACK.filter((level) => bucket[level] > 0)
    const heights = levels.map((level) => Math.max(LEAST_HEIGHT, (bucket[level] / most) * 100))
    // What is lifted to be visible takes its room from the largest part.
    const surplus = Math.max(0, heights.reduce((sum, height) => sum + height, 0) - 100)
    const largest = heights.indexOf(Math.max(...heights))
    let top = 100
    const stretches = levels.map((level, place): Stretch => {
      const height = heights[place]! - (place === largest ? surplus : 0)
      top -= height
      return { level, y: top, height }
    })
    return { at: bucket.at, count: counts[index]!, stretches }
  })
}

/** How many lines there are of each level. */
export function totalsOf({ buckets }: LogHistogram): Record<Level, number> {
  const sum = (level: Level) => buckets.reduce((total, bucket) => total + bucket[level], 0)
  return { error: sum('error'), warn: sum('warn'), info: sum('info'), debug: sum('debug') }
}

/** The time that was dragged over, given two places from 0 (left) to 1 (right), in whole buckets. */
export function timeBetween(
  histogram: LogHistogram,
  one: number,
  other: number,
): { since: string; until: string } {
  const from = Date.parse(histogram.from)
  const step = histogram.step_seconds * 1_000
  const count = histogram.buckets.length
  const [left, right] = [Math.min(one, other), Math.max(one, other)].map((place) =>
    Math.min(1, Math.max(0, place)),
  )
  const first = Math.min(count - 1, Math.floor(left! * count))
  const last = Math.max(first + 1, Math.ceil(right! * count))
  const at = (index: number) => new Date(from + index * step).toISOString()
  return { since: at(first), until: at(last) }
}

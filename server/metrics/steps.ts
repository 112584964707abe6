import { RANGES, type Range } from './schema.ts'

/** The steps in seconds that the readings of a range are averaged into, so that each has as many points. */
const STEPS: Record<Range, number> = { '1h': 10, '6h': 60, '24h': 240 }
const POINTS = 360

/** The steps of a range up to now, in milliseconds: where the first one and the one under way start. */
export interface Window {
  range: Range
  stepSeconds: number
  first: number
  last: number
}

/** The lengths of steps that readings are kept in. */
export const STEP_SECONDS = RANGES.map((range) => STEPS[range])

/** The newest steps of a range. */
export function windowOf(range: Range, now: number): Window {
  const stepSeconds = STEPS[range]
  const last = stepStart(stepSeconds, now)
  return { range, stepSeconds, first: last - (POINTS - 1) * stepSeconds * 1_000, last }
}

/** Where the step starts that a moment is in: steps stand on multiples of their length. */
export function stepStart(stepSeconds: number, at: number): number {
  return at - (at % (stepSeconds * 1_000))
}

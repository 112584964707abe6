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

/** Steps that no range shows: what happened in a whole day is added up from few of them. */
export const HOUR_SECONDS = 3_600
/** The longest that a range shows. */
export const LONGEST_SHOWN_SECONDS = STEPS['24h']
/** The lengths of steps that readings are kept in, each some of the one before. */
export const STEP_SECONDS = [...RANGES.map((range) => STEPS[range]), HOUR_SECONDS]

/** Steps of one length that start within this time, in milliseconds, both ends included. */
interface Span {
  seconds: number
  first: number
  last: number
}

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

/** The steps of a window as few: longer ones in the place of those that they are made of. */
export function spansOf({ stepSeconds, first, last }: Window): Span[] {
  return spansBetween(STEP_SECONDS.indexOf(stepSeconds), first, last + stepSeconds * 1_000)
}

function spansBetween(length: number, from: number, to: number): Span[] {
  if (from >= to) return []
  const span = (start: number, end: number): Span[] =>
    start < end ? [{ seconds: STEP_SECONDS[length]!, first: start, last: end - 1 }] : []
  const longer = STEP_SECONDS[length + 1]
  if (longer === undefined) return span(from, to)
  const start = stepStart(longer, from + longer * 1_000 - 1)
  const end = stepStart(longer, to)
  if (start >= end) return span(from, to)
  return [...span(from, start), ...spansBetween(length + 1, start, end), ...span(end, to)]
}

import { RANGES, type Range } from './schema.ts'

/** The length of a step in seconds, for each range. Chosen so that every range has the same number of points. */
const STEPS: Record<Range, number> = { '1h': 10, '6h': 60, '24h': 240 }
const POINTS = 360

/** The steps of a range up to now, in milliseconds: the start of the first one and of the current one. */
export interface Window {
  range: Range
  stepSeconds: number
  first: number
  last: number
}

/** Steps that no range shows. They make it cheap to sum up a whole day. */
export const HOUR_SECONDS = 3_600
/** The step of six hours, which is also read as minutes. */
export const MINUTE_SECONDS = STEPS['6h']
/** The longest step that a range shows. */
export const LONGEST_SHOWN_SECONDS = STEPS['24h']
/** The lengths of steps in which readings are stored. Each is a multiple of the one before. */
export const STEP_SECONDS = [...RANGES.map((range) => STEPS[range]), HOUR_SECONDS]

/** Steps of one length that start within this time, in milliseconds, both ends included. */
interface Span {
  seconds: number
  first: number
  last: number
}

/** The window of a range up to now. */
export function windowOf(range: Range, now: number): Window {
  const stepSeconds = STEPS[range]
  const last = stepStart(stepSeconds, now)
  return { range, stepSeconds, first: last - (POINTS - 1) * stepSeconds * 1_000, last }
}

/** The start of the step that contains a time. Steps start at multiples of their length. */
export function stepStart(stepSeconds: number, at: number): number {
  return at - (at % (stepSeconds * 1_000))
}

/** Covers a window with as few steps as possible: a longer step replaces the shorter ones that it consists of. */
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

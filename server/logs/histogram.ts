import { storedLevel, storedTime } from './filter.ts'
import { LOG_LEVELS, type LogLevel } from './level.ts'
import { searchParts, type NamedLog, type SharedFilter } from './search-parts.ts'
import { readableBlocks, unpacked } from './tail.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
/** How wide a bar may be, so that bars begin at times that people name. */
const STEPS_MS = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND_MS),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12, 24].map((hours) => hours * HOUR_MS),
]

/** Bars of the same width. Times are in ms since 1970. */
export interface Bars {
  /** When the first one begins, a multiple of the step. */
  from: number
  step: number
  count: number
}

/** The counts of the bars, by level. */
export type LevelCounts = Record<LogLevel, number[]>

/** How many lines there are in each bar. */
export interface Counted {
  counts: LevelCounts
  /** Before this time not all lines are counted, because there was no time left; null if all are. */
  uncountedBefore: string | null
}

/** The narrowest bars of which at most `max` cover a range; the widest are a day. */
export function barsFor(since: number, until: number, max: number): Bars {
  for (const step of STEPS_MS) {
    const from = Math.floor(since / step) * step
    const count = Math.max(1, Math.ceil((until - from) / step))
    if (count <= max) return { from, step, count }
  }
  const step = STEPS_MS.at(-1)! * Math.ceil((until - since) / (STEPS_MS.at(-1)! * (max - 1)))
  const from = Math.floor(since / step) * step
  return { from, step, count: Math.ceil((until - from) / step) }
}

/** Counts the wanted lines of several logs, latest first, and stops after `limitMs`. */
export async function countLines(
  logs: readonly NamedLog[],
  filter: SharedFilter,
  bars: Bars,
  limitMs: number,
): Promise<Counted> {
  const counts = Object.fromEntries(
    LOG_LEVELS.map((level) => [level, Array.from({ length: bars.count }, () => 0)]),
  ) as LevelCounts
  const placeOf = placesIn(bars)
  const end = performance.now() + limitMs
  const parts = searchParts(logs, filter)
  let content = unpacked(parts[0]?.slice)
  for (const [index, { slice, matcher, newest }] of parts.entries()) {
    const blocks = readableBlocks(slice, content)
    // The next part is unpacked while this one is counted.
    content = unpacked(parts[index + 1]?.slice)
    for await (const block of blocks) {
      if (performance.now() > end) return { counts, uncountedBefore: newest }
      for (const line of matcher(block.toString('utf8'))) {
        const place = placeOf(storedTime(line))
        if (place >= 0 && place < bars.count) counts[storedLevel(line)][place]!++
      }
    }
  }
  return { counts, uncountedBefore: null }
}

/** Finds the bar of a timestamp. Lines follow each other closely, so a time is parsed only when its second is another. */
function placesIn({ from, step }: Bars): (ts: string) => number {
  const length = '2000-01-01T00:00:00'.length
  let known = ''
  let place = -1
  return (ts) => {
    const second = ts.slice(0, length)
    if (second !== known) {
      known = second
      place = Math.floor((Date.parse(`${second}Z`) - from) / step)
    }
    return place
  }
}

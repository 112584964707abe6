import type { OutputLine } from '../engine/index.ts'

type Stream = OutputLine['stream']

export const STREAMS: readonly Stream[] = ['stdout', 'stderr']

/** A time of the engine's log and that of the arrival are this near each other, also on a busy host. */
const NEAR_MS = 5_000
/** The log's time is not the later one by more than this, but when the engine's copy of its log is behind. */
const EARLY_MS = 1
/** Of places that are compared by times, so many: where lines come faster, a second is as many. */
const MOST_PLACES = 4_000
/** What is not found is looked for with so many times fewer lines. */
const FEWER = 4
/** How much less likely that is than an arrival so much late. */
const EARLY_WEIGHT = 2
/** Lines that are compared with each of many places, at most: enough of them come on time even on a busy host. */
export const MOST_COMPARED = 2_000

/** What was logged before the first of the lines that came live, and those lines with the first whole. */
export interface Seam {
  before: OutputLine[]
  live: OutputLine[]
  /** Whether the log has to be read again, as it does not have all yet that came before it was read. */
  isOpen: boolean
  /** Whether a stream fits in several places, of which the times tell one: more lines tell it better. */
  isDoubtful: boolean
}

/**
 * Joins what the log has with what came live, where both overlap. `logged` was printed at the moment of attaching or later,
 * so that each of its lines may have come live too; and the first `due` lines of `live` came before it was read, so that it
 * has them. Streams are joined one by one: only within one is their order the same.
 */
export function joinLive(logged: readonly OutputLine[], live: readonly OutputLine[], due: number): Seam {
  const seam: Seam = { before: [...logged], live: [...live], isOpen: false, isDoubtful: false }
  for (const stream of STREAMS) {
    const isOfStream = (line: OutputLine) => line.stream === stream
    const old = logged.filter(isOfStream)
    const fresh = live.filter(isOfStream)
    if (fresh.length === 0) continue
    const owed = live.slice(0, due).filter(isOfStream).length
    const starts = overlapStarts(old, fresh)
    const whole = starts.filter((start) => start + owed <= old.length)
    seam.isOpen ||= whole.length === 0 || (owed === 0 && old.length > 0)
    seam.isDoubtful ||= whole.length > 1
    const [printed, arrived] = [timesOf(old), timesOf(fresh)]
    const start = nearestInTime(whole.length > 0 ? whole : starts, (place) =>
      unlikeness(printed, place, arrived, 0),
    )
    if (start === -1) continue
    const repeated = new Set(old.slice(start))
    seam.before = seam.before.filter((line) => !repeated.has(line))
    // Attaching may fall into the middle of a line; the log has it whole.
    const first = fresh[0]!
    seam.live[seam.live.indexOf(first)] = { ...first, line: old[start]!.line }
  }
  return seam
}

/** Where in `old` the lines of `fresh` may begin: all that follows there must be the same. The first may be the end of a line. */
function overlapStarts(old: OutputLine[], fresh: OutputLine[]): number[] {
  const { line } = fresh[0]!
  const startsWhere = (isFirst: (whole: string) => boolean) =>
    old.flatMap((first, start) => (isFirst(first.line) && goesOn(old, start, fresh) ? [start] : []))
  const whole = startsWhere((text) => text === line)
  return whole.length > 0 || line === '' ? whole : startsWhere((text) => text.endsWith(line))
}

function goesOn(old: OutputLine[], start: number, fresh: OutputLine[]): boolean {
  const length = Math.min(old.length - start, fresh.length)
  for (let index = 1; index < length; index++) {
    if (old[start + index]!.line !== fresh[index]!.line) return false
  }
  return true
}

/**
 * Where in what the log has of one stream, oldest first, the `known` lines of it end, whose times are their arrivals. They
 * are found by their text; where it repeats itself, by their times. Of lines that were lost, or whose bytes are no text,
 * the log has others: then fewer are looked for, near the last one's time. -1 where none is found.
 */
export function endOfKnown(logged: readonly OutputLine[], known: readonly OutputLine[]): number {
  if (known.length === 0) return 0
  const printed = timesOf(logged)
  const arrived = timesOf(known)
  const farness = (end: number) => Math.abs(printed[end - 1]! - arrived.at(-1)!)
  const all = printed.map((_, index) => index + 1).toSorted((one, other) => farness(one) - farness(other))
  const near = all.filter((end) => farness(end) <= NEAR_MS).slice(0, MOST_PLACES)
  for (let count = known.length; count > 0; count = Math.floor(count / FEWER)) {
    const wanted = known.slice(-count)
    let places = near.filter((end) => endsWith(logged, end, wanted))
    // All of them together are looked for far from there too: a clock was set.
    if (places.length === 0 && count === known.length)
      places = all.filter((end) => end >= count && endsWith(logged, end, wanted)).slice(0, MOST_PLACES)
    const found = nearestInTime(places, (end) => {
      const length = Math.min(end, count)
      return unlikeness(printed, end - length, arrived, known.length - length)
    })
    if (found !== -1) return found
  }
  return -1
}

function endsWith(logged: readonly OutputLine[], end: number, known: readonly OutputLine[]): boolean {
  const length = Math.min(end, known.length)
  for (let index = 1; index <= length; index++) {
    if (logged[end - index]!.line !== known[known.length - index]!.line) return false
  }
  return true
}

/** Of several places where the text fits, the one where the times do best; -1 for no place. */
function nearestInTime(places: readonly number[], unlikenessAt: (place: number) => number): number {
  if (places.length < 2) return places[0] ?? -1
  const unlike = places.map(unlikenessAt)
  let best = 0
  for (const [index, value] of unlike.entries()) if (value < unlike[best]!) best = index
  return places[best]!
}

/**
 * How little the times of lines from two places on fit, on average. The logarithm counts: the many lines of a busy moment,
 * which all arrived late, must not outweigh the few that were on time, of which at any other place none is.
 */
function unlikeness(printed: number[], from: number, arrived: number[], arrivedFrom: number): number {
  const length = Math.min(printed.length - from, arrived.length - arrivedFrom, MOST_COMPARED)
  let sum = 0
  for (let index = 0; index < length; index++) {
    const late = arrived[arrivedFrom + index]! - printed[from + index]!
    sum += Math.log1p(Math.abs(late)) * (late < -EARLY_MS ? EARLY_WEIGHT : 1)
  }
  return sum / length
}

function timesOf(lines: readonly OutputLine[]): number[] {
  return lines.map(({ ts }) => Date.parse(ts))
}

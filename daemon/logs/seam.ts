import { MAX_LINE_BYTES, type OutputLine } from '../engine/index.ts'

type Stream = OutputLine['stream']

export const STREAMS: readonly Stream[] = ['stdout', 'stderr']

/** Max difference between a line's timestamp in the log and its arrival here, even on a busy host. */
export const NEAR_MS = 5_000
/** How much earlier than its timestamp a line may arrive, unless the engine's log writer is behind. */
const EARLY_MS = 1
/** The weight of a line that arrived even earlier: it is less likely than one that is late by the same time. */
const EARLY_WEIGHT = 2
/** Max lines whose text, and whose times, are compared at each possible position. */
const MAX_COMPARED_TEXTS = 2_000
const MAX_COMPARED_TIMES = 512
/** Max positions that are compared, the nearest in time first. */
const MAX_POSITIONS = 4_000
/** If no position is found, the search is repeated with this many times fewer lines. */
const SEARCH_DIVISOR = 4

/** The logged lines before the first live line, and the live lines with the first one complete. */
export interface Seam {
  before: OutputLine[]
  live: OutputLine[]
  /** Whether the log must be read again, because it does not yet have all lines that arrived before it was read. */
  isOpen: boolean
  /** Whether a stream fits at several positions and the times had to decide: more lines decide it better. */
  isAmbiguous: boolean
}

/**
 * Joins the log with the live lines where both overlap. `logged` was printed at or after attaching, so each of its lines
 * may also have arrived live. The first `due` lines of `live` arrived before the log was read, so the log has them. Each
 * stream is joined by itself, because the order is the same only within a stream.
 */
export function joinLive(
  logged: readonly OutputLine[],
  live: readonly OutputLine[],
  due: number,
  streams: Iterable<Stream> = STREAMS,
): Seam {
  const seam: Seam = { before: [...logged], live: [...live], isOpen: false, isAmbiguous: false }
  for (const stream of streams) {
    const isOfStream = (line: OutputLine) => line.stream === stream
    const old = logged.filter(isOfStream)
    const fresh = live.filter(isOfStream)
    if (fresh.length === 0) continue
    const owed = live.slice(0, due).filter(isOfStream).length
    const [printed, arrived] = [timesOf(old), timesOf(fresh)]
    const { starts, isCut } = overlapStarts(old, fresh, (start) => Math.abs(printed[start]! - arrived[0]!))
    const whole = starts.filter((start) => start + owed <= old.length)
    // What looks like the end of a line may be another line, which the log does not have yet.
    seam.isOpen ||= whole.length === 0 || isCut || (owed === 0 && old.length > 0)
    seam.isAmbiguous ||= whole.length > 1
    const start = bestFit(whole.length > 0 ? whole : starts, (place) =>
      timeMismatch(printed, place, arrived, 0),
    )
    if (start === -1) continue
    const repeated = new Set(old.slice(start))
    seam.before = seam.before.filter((line) => !repeated.has(line))
    // Attaching may have happened in the middle of a line; the log has the whole line.
    const first = fresh[0]!
    seam.live[seam.live.indexOf(first)] = { ...first, line: old[start]!.line }
  }
  return seam
}

/** Returns where in `old` the lines of `fresh` may begin: the rest must match. The first may be only the end of a line. */
function overlapStarts(
  old: OutputLine[],
  fresh: OutputLine[],
  distance: (start: number) => number,
): { starts: number[]; isCut: boolean } {
  const [texts, wanted] = [textsOf(old), textsOf(fresh)]
  const startsWhere = (isFirst: (text: string) => boolean) =>
    nearest(indexesWhere(texts, isFirst), distance).filter((start) => continuesWith(texts, start, wanted))
  const starts = startsWhere((text) => text === wanted[0])
  if (starts.length > 0) return { starts, isCut: false }
  // It may begin in the middle of a character.
  const end = wanted[0]!.replace(/^\ufffd/, '')
  return { starts: startsWhere((text) => text.endsWith(end) || isCutOff(text)), isCut: true }
}

/** Whether a line is so long that its end is not kept. */
function isCutOff(text: string): boolean {
  return Buffer.byteLength(text) >= MAX_LINE_BYTES
}

function continuesWith(texts: string[], start: number, wanted: string[]): boolean {
  const length = Math.min(texts.length - start, wanted.length, MAX_COMPARED_TEXTS)
  for (let index = 1; index < length; index++) {
    if (texts[start + index] !== wanted[index]) return false
  }
  return true
}

/**
 * Returns where the `known` lines of one stream end in its log (oldest first); their times are those of arrival. They are
 * found by text, and by time where the text repeats. If the log lost lines, fewer of them are searched for, near the time of
 * the last one. -1 if none is found.
 */
export function endOfKnown(logged: readonly OutputLine[], known: readonly OutputLine[]): number {
  if (known.length === 0) return 0
  const [texts, wanted] = [textsOf(logged), textsOf(known)]
  const [printed, arrived] = [timesOf(logged), timesOf(known)]
  const last = wanted.length - 1
  const distance = (index: number) => Math.abs(printed[index]! - arrived[last]!)
  const all = indexesWhere(texts, (text) => text === wanted[last])
  const near = nearest(
    all.filter((index) => distance(index) <= NEAR_MS),
    distance,
  )
  for (let count = known.length; count > 0; count = Math.floor(count / SEARCH_DIVISOR)) {
    const fits = (index: number) => endsWith(texts, index, wanted, count)
    let places = near.filter(fits)
    // All of them together are searched for at other times too, because a clock may have been changed.
    if (places.length === 0 && count === known.length)
      places = nearest(
        all.filter((index) => index >= count - 1 && fits(index)),
        distance,
      )
    const found = bestFit(places, (index) => {
      const length = Math.min(index + 1, count)
      return timeMismatch(printed, index + 1 - length, arrived, known.length - length)
    })
    if (found !== -1) return found + 1
  }
  return -1
}

function endsWith(texts: string[], end: number, wanted: string[], count: number): boolean {
  const length = Math.min(end + 1, count)
  for (let back = 0; back < length; back++) {
    if (texts[end - back] !== wanted[wanted.length - 1 - back]) return false
  }
  return true
}

/** Returns comparable texts: the engine and this server write different numbers of U+FFFD for bytes that are not text. */
function textsOf(lines: readonly OutputLine[]): string[] {
  return lines.map(({ line }) => (line.includes('\ufffd') ? line.replace(/\ufffd+/g, '\ufffd') : line))
}

function timesOf(lines: readonly OutputLine[]): number[] {
  return lines.map(({ ts }) => Date.parse(ts))
}

function indexesWhere(texts: string[], isWanted: (text: string) => boolean): number[] {
  const indexes: number[] = []
  for (const [index, text] of texts.entries()) if (isWanted(text)) indexes.push(index)
  return indexes
}

/** Returns the nearest positions, at most as many as can be compared. */
function nearest(places: number[], distance: (place: number) => number): number[] {
  if (places.length <= MAX_POSITIONS) return places
  return places.toSorted((one, other) => distance(one) - distance(other)).slice(0, MAX_POSITIONS)
}

/** Returns the position where the times fit best; -1 if there is none. */
function bestFit(places: readonly number[], mismatchAt: (place: number) => number): number {
  if (places.length < 2) return places[0] ?? -1
  const unlike = places.map(mismatchAt)
  let best = 0
  for (const [index, value] of unlike.entries()) if (value < unlike[best]!) best = index
  return places[best]!
}

/**
 * Returns how badly the times of lines from two positions on fit, on average. Uses the logarithm, because the many lines of
 * a busy moment, which all arrived late, must not outweigh the few on time, which exist only at the right position.
 */
function timeMismatch(printed: number[], from: number, arrived: number[], arrivedFrom: number): number {
  const length = Math.min(printed.length - from, arrived.length - arrivedFrom, MAX_COMPARED_TIMES)
  let sum = 0
  for (let index = 0; index < length; index++) {
    const late = arrived[arrivedFrom + index]! - printed[from + index]!
    sum += Math.log1p(Math.abs(late)) * (late < -EARLY_MS ? EARLY_WEIGHT : 1)
  }
  return sum / length
}

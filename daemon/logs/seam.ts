import { MAX_LINE_BYTES, type OutputLine } from '../engine/index.ts'

type Stream = OutputLine['stream']

export const STREAMS: readonly Stream[] = ['stdout', 'stderr']

/** A time of the engine's log and that of the arrival are this near each other, also on a busy host. */
export const NEAR_MS = 5_000
/** The log's time is not the later one by more than this, but when the engine's copy of its log is behind. */
const EARLY_MS = 1
/** How much less likely that is than an arrival so much late. */
const EARLY_WEIGHT = 2
/** Lines whose text, and lines whose times are compared with each of many places, at most. */
const MOST_ALIKE = 2_000
const MOST_COMPARED = 512
/** Places that are compared, the nearest in time: where lines come faster than that in a second, they are not told apart. */
const MOST_PLACES = 4_000
/** What is not found is looked for with so many times fewer lines. */
const FEWER = 4

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
export function joinLive(
  logged: readonly OutputLine[],
  live: readonly OutputLine[],
  due: number,
  streams: Iterable<Stream> = STREAMS,
): Seam {
  const seam: Seam = { before: [...logged], live: [...live], isOpen: false, isDoubtful: false }
  for (const stream of streams) {
    const isOfStream = (line: OutputLine) => line.stream === stream
    const old = logged.filter(isOfStream)
    const fresh = live.filter(isOfStream)
    if (fresh.length === 0) continue
    const owed = live.slice(0, due).filter(isOfStream).length
    const [printed, arrived] = [timesOf(old), timesOf(fresh)]
    const { starts, isCut } = overlapStarts(old, fresh, (start) => Math.abs(printed[start]! - arrived[0]!))
    const whole = starts.filter((start) => start + owed <= old.length)
    // The end of a line may also be another line, which the log does not have yet.
    seam.isOpen ||= whole.length === 0 || isCut || (owed === 0 && old.length > 0)
    seam.isDoubtful ||= whole.length > 1
    const start = likeliest(whole.length > 0 ? whole : starts, (place) =>
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
function overlapStarts(
  old: OutputLine[],
  fresh: OutputLine[],
  farness: (start: number) => number,
): { starts: number[]; isCut: boolean } {
  const [texts, wanted] = [textsOf(old), textsOf(fresh)]
  const startsWhere = (isFirst: (text: string) => boolean) =>
    nearest(indexesWhere(texts, isFirst), farness).filter((start) => goesOn(texts, start, wanted))
  const starts = startsWhere((text) => text === wanted[0])
  if (starts.length > 0) return { starts, isCut: false }
  // It may begin within a character.
  const end = wanted[0]!.replace(/^\ufffd/, '')
  return { starts: startsWhere((text) => text.endsWith(end) || isCutOff(text)), isCut: true }
}

/** Of a line so long the end is not kept. */
function isCutOff(text: string): boolean {
  return Buffer.byteLength(text) >= MAX_LINE_BYTES
}

function goesOn(texts: string[], start: number, wanted: string[]): boolean {
  const length = Math.min(texts.length - start, wanted.length, MOST_ALIKE)
  for (let index = 1; index < length; index++) {
    if (texts[start + index] !== wanted[index]) return false
  }
  return true
}

/**
 * Where in what the log has of one stream, oldest first, the `known` lines of it end, whose times are their arrivals. They
 * are found by their text; where it repeats itself, by their times. Of lines that were lost the log has others: then fewer
 * are looked for, near the last one's time. -1 where none is found.
 */
export function endOfKnown(logged: readonly OutputLine[], known: readonly OutputLine[]): number {
  if (known.length === 0) return 0
  const [texts, wanted] = [textsOf(logged), textsOf(known)]
  const [printed, arrived] = [timesOf(logged), timesOf(known)]
  const last = wanted.length - 1
  const farness = (index: number) => Math.abs(printed[index]! - arrived[last]!)
  const all = indexesWhere(texts, (text) => text === wanted[last])
  const near = nearest(
    all.filter((index) => farness(index) <= NEAR_MS),
    farness,
  )
  for (let count = known.length; count > 0; count = Math.floor(count / FEWER)) {
    const fits = (index: number) => endsWith(texts, index, wanted, count)
    let places = near.filter(fits)
    // All of them together are looked for far from there too: a clock was set.
    if (places.length === 0 && count === known.length)
      places = nearest(
        all.filter((index) => index >= count - 1 && fits(index)),
        farness,
      )
    const found = likeliest(places, (index) => {
      const length = Math.min(index + 1, count)
      return unlikeness(printed, index + 1 - length, arrived, known.length - length)
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

/** The texts as the engine and this server both have them, who write another number of these for bytes that are no text. */
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

/** Not more of the places than can be compared. */
function nearest(places: number[], farness: (place: number) => number): number[] {
  if (places.length <= MOST_PLACES) return places
  return places.toSorted((one, other) => farness(one) - farness(other)).slice(0, MOST_PLACES)
}

/** Of several places where the text fits, the one where the times do best; -1 for no place. */
function likeliest(places: readonly number[], unlikenessAt: (place: number) => number): number {
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

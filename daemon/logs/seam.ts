import type { OutputLine } from '../engine/index.ts'

/** The engine's copy of its log is this much behind its streams on a busy host, so its timestamps are as much later. */
const LAG_MS = 1_000

/** Lines whose times are compared, at most; and of what repeats itself, lines whose text is: each of many places costs as much. */
const MOST_COMPARED = 64
const MOST_ALIKE = 1_000

/** Different texts that are the same in both tell a place for sure; fewer may repeat themselves. */
const SURE_TEXTS = 8

/**
 * Where in `logged` lines of one stream begin that came live, by their text; null where that does not tell it for sure.
 * The log was read after the first `due` of them had come, so it has these.
 */
export function placeByText(
  logged: readonly OutputLine[],
  live: readonly OutputLine[],
  due: number,
): number | null {
  if (due < SURE_TEXTS) return null
  const places = overlapStarts(logged, live).filter((start) => start + due <= logged.length)
  const [place] = places
  if (place === undefined || places.length > 1) return null
  // The first may be the end of a line.
  const texts = new Set(live.slice(1, logged.length - place).map(({ line }) => line))
  return texts.size >= SURE_TEXTS - 1 ? place : null
}

/** Where the lines of `live` may begin: all that follows there must be the same. The first may be the end of a line. */
function overlapStarts(logged: readonly OutputLine[], live: readonly OutputLine[]): number[] {
  const { line } = live[0]!
  return logged.flatMap((first, start) =>
    first.line.endsWith(line) && goesOn(logged, start, live) ? [start] : [],
  )
}

function goesOn(logged: readonly OutputLine[], start: number, live: readonly OutputLine[]): boolean {
  const length = Math.min(logged.length - start, live.length, MOST_ALIKE)
  for (let index = 1; index < length; index++) {
    if (logged[start + index]!.line !== live[index]!.line) return false
  }
  return true
}

/**
 * Of what the log has, oldest first, the lines after those of one stream that are `known`, whose times are their
 * arrivals. They are found by their text; where it repeats itself, by their times.
 */
export function afterKnown(
  logged: readonly OutputLine[],
  known: readonly OutputLine[],
): { lines: OutputLine[]; isMet: boolean } {
  const last = known.at(-1)
  if (!last) return { lines: [...logged], isMet: true }
  const arrival = Date.parse(last.ts)
  const ends = logged.flatMap(({ ts }, index) =>
    Math.abs(Date.parse(ts) - arrival) <= LAG_MS && endsWith(logged, index + 1, known) ? [index + 1] : [],
  )
  const found = nearestInTime(ends, (end) => {
    const length = Math.min(end, known.length, MOST_COMPARED)
    return distances(logged.slice(end - length, end), known.slice(known.length - length))
  })
  return found === -1
    ? { lines: logged.filter(({ ts }) => ts > last.ts), isMet: false }
    : { lines: logged.slice(found), isMet: true }
}

function endsWith(logged: readonly OutputLine[], end: number, known: readonly OutputLine[]): boolean {
  const length = Math.min(end, known.length)
  for (let index = 1; index <= length; index++) {
    if (logged[end - index]!.line !== known[known.length - index]!.line) return false
  }
  return true
}

/**
 * Of several places where the text fits, the one where the times do best. The middle of the distances counts: a few lines
 * may have been late, of one that stands elsewhere all are. -1 for no place.
 */
function nearestInTime(places: readonly number[], distancesAt: (place: number) => number[]): number {
  if (places.length < 2) return places[0] ?? -1
  const far = places.map((place) => {
    const sorted = distancesAt(place).sort((left, right) => left - right)
    return sorted[Math.floor((sorted.length - 1) / 2)]!
  })
  return places[far.indexOf(Math.min(...far))]!
}

/** How far the times of each two lines are apart, in milliseconds. */
function distances(logged: readonly OutputLine[], arrived: readonly OutputLine[]): number[] {
  return logged
    .slice(0, arrived.length)
    .map(({ ts }, index) => Math.abs(Date.parse(ts) - Date.parse(arrived[index]!.ts)))
}

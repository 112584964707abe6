import type { OutputLine } from '../engine/index.ts'

type Stream = OutputLine['stream']

/** The engine's copy of its log is this much behind its streams on a busy host, so its timestamps are as much later. */
const LAG_MS = 1_000

/** Lines whose times are compared, at most; and of what repeats itself, lines whose text is: each of many places costs as much. */
const MOST_COMPARED = 64
const MOST_ALIKE = 1_000

/** What was logged before the first of the lines that came live, and those lines with the first whole. */
export interface Seam {
  before: OutputLine[]
  live: OutputLine[]
  /** Streams whose first live line is not in the log yet: it has to be read again. */
  open: Stream[]
  /** Whether a stream fits in several places, of which the times tell one: more lines tell it better. */
  isDoubtful: boolean
}

/**
 * Joins what the log has with what came live, where both overlap. `logged` was printed at the moment of attaching or later,
 * so that each of its lines may have come live too. Streams are joined one by one: only within one is their order the same.
 */
export function joinLive(logged: readonly OutputLine[], live: readonly OutputLine[]): Seam {
  const seam: Seam = { before: [...logged], live: [...live], open: [], isDoubtful: false }
  for (const stream of ['stdout', 'stderr'] as const) {
    const old = logged.filter((line) => line.stream === stream)
    const fresh = live.filter((line) => line.stream === stream)
    if (old.length === 0 || fresh.length === 0) continue
    const starts = overlapStarts(old, fresh)
    seam.isDoubtful ||= starts.length > 1
    const start = nearestInTime(starts, (place) => distances(old.slice(place, place + MOST_COMPARED), fresh))
    if (start === -1) seam.open.push(stream)
    else {
      const repeated = new Set(old.slice(start))
      seam.before = seam.before.filter((line) => !repeated.has(line))
      // Attaching may fall into the middle of a line; the log has it whole.
      const first = fresh[0]!
      seam.live[seam.live.indexOf(first)] = { ...first, line: old[start]!.line }
    }
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
  const length = Math.min(old.length - start, fresh.length, MOST_ALIKE)
  for (let index = 1; index < length; index++) {
    if (old[start + index]!.line !== fresh[index]!.line) return false
  }
  return true
}

/**
 * Of what the log has, oldest first, the lines after those of one stream that are `known`, whose times are their
 * arrivals. They are found by their text; where it repeats itself, by their times.
 */
export function afterKnown(logged: readonly OutputLine[], known: readonly OutputLine[]): OutputLine[] {
  const last = known.at(-1)
  if (!last) return [...logged]
  const arrival = Date.parse(last.ts)
  const ends = logged.flatMap(({ ts }, index) =>
    Math.abs(Date.parse(ts) - arrival) <= LAG_MS && endsWith(logged, index + 1, known) ? [index + 1] : [],
  )
  const found = nearestInTime(ends, (end) => {
    const length = Math.min(end, known.length, MOST_COMPARED)
    return distances(logged.slice(end - length, end), known.slice(known.length - length))
  })
  return found === -1 ? logged.filter(({ ts }) => ts > last.ts) : logged.slice(found)
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

import type { OutputLine } from '../engine/index.ts'

type Stream = OutputLine['stream']

/** The engine's copy of its log is this much behind its streams on a busy host, so its timestamps are as much later. */
const LAG_MS = 1_000

/** What was logged before the first of the lines that came live, and those lines with the first whole. */
export interface Seam {
  before: OutputLine[]
  live: OutputLine[]
  /** Streams whose first live line is not in the log yet: it has to be read again. */
  open: Stream[]
}

/**
 * Joins what the log has with what came live, where both overlap. `logged` was printed at the moment of attaching or later,
 * so that each of its lines may have come live too. Streams are joined one by one: only within one is their order the same.
 */
export function joinLive(logged: readonly OutputLine[], live: readonly OutputLine[]): Seam {
  const seam: Seam = { before: [...logged], live: [...live], open: [] }
  for (const stream of ['stdout', 'stderr'] as const) {
    const old = logged.filter((line) => line.stream === stream)
    const fresh = live.filter((line) => line.stream === stream)
    if (old.length === 0 || fresh.length === 0) continue
    const start = overlapStart(old, fresh)
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

/** Where in `old` the lines of `fresh` begin: all that follows there must be the same. The first may be the end of a line. */
function overlapStart(old: OutputLine[], fresh: OutputLine[]): number {
  const { line } = fresh[0]!
  const whole = old.findIndex((first, start) => first.line === line && goesOn(old, start, fresh))
  if (whole !== -1 || line === '') return whole
  return old.findIndex((first, start) => first.line.endsWith(line) && goesOn(old, start, fresh))
}

function goesOn(old: OutputLine[], start: number, fresh: OutputLine[]): boolean {
  const length = Math.min(old.length - start, fresh.length)
  for (let index = 1; index < length; index++) {
    if (old[start + index]!.line !== fresh[index]!.line) return false
  }
  return true
}

/**
 * Of what the log has, oldest first, the lines after those of one stream that are `known`, whose times are their
 * arrivals. They are found by their text; where it repeats itself, by the nearest time.
 */
export function afterKnown(logged: readonly OutputLine[], known: readonly OutputLine[]): OutputLine[] {
  const last = known.at(-1)
  if (!last) return [...logged]
  const arrival = Date.parse(last.ts)
  let found = -1
  let nearest = LAG_MS
  for (let end = 1; end <= logged.length; end++) {
    const distance = Math.abs(Date.parse(logged[end - 1]!.ts) - arrival)
    if (distance > nearest || !endsWith(logged, end, known)) continue
    found = end
    nearest = distance
  }
  return found === -1 ? logged.filter(({ ts }) => ts > last.ts) : logged.slice(found)
}

function endsWith(logged: readonly OutputLine[], end: number, known: readonly OutputLine[]): boolean {
  const length = Math.min(end, known.length)
  for (let index = 1; index <= length; index++) {
    if (logged[end - index]!.line !== known[known.length - index]!.line) return false
  }
  return true
}

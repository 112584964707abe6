import { statSync } from 'node:fs'
import { lineMatcher, type LineFilter, type LineMatcher } from './filter.ts'
import type { Labelled } from './labels.ts'
import { dayOf, type Slice } from './parts.ts'

const DAY_MS = 86_400_000
/** A line may be that much newer than the clock of its part's file: an engine on another host has a clock of its own. */
const SLACK_MS = 60_000

/** One of several logs that are read together. */
export interface NamedLog {
  service: Labelled
  slices: readonly Slice[]
  /** Instance names that are wanted; null for all. */
  instances: string[] | null
  /** The deploys of its instances. */
  deploys: ReadonlyMap<string, string>
}

/** What is wanted of all of them. */
export type SharedFilter = Omit<LineFilter, 'instances'>

/** A part of one of the logs. */
export interface SearchPart {
  log: NamedLog
  slice: Slice
  matcher: LineMatcher
  /** A timestamp after all of its lines. */
  newest: string
}

/**
 * The parts of some logs that may have wanted lines, latest first. So when some have been read, everything from the `newest` of
 * the next one on is known. What cannot have lines in the time that is wanted is left out without being opened.
 */
export function searchParts(logs: readonly NamedLog[], filter: SharedFilter): SearchPart[] {
  // An expression takes milliseconds to compile.
  const ofAll = lineMatcher({ ...filter, instances: null })
  const parts = logs.flatMap((log) => {
    const { instances } = log
    const matcher = instances === null ? ofAll : lineMatcher({ ...filter, instances })
    let newest = ''
    const own = log.slices.flatMap((slice) => {
      const written = writtenAt(slice)
      if (written === null) return []
      const after = new Date(written + SLACK_MS).toISOString()
      // A part may have been packed when the next one had its last line already: it is still the older one.
      if (after > newest) newest = after
      return mayHave(filter, slice, after) ? [{ log, slice, matcher, newest }] : []
    })
    return own.reverse()
  })
  return parts.sort((left, right) => (left.newest < right.newest ? 1 : left.newest > right.newest ? -1 : 0))
}

/**
 * Lines that were printed while the server was away have their own times, so a part may begin with lines from before the day
 * in its name: of a day at most, unless the server was away for longer.
 */
function mayHave({ since, until }: SharedFilter, { day }: Slice, newest: string): boolean {
  if (since !== null && newest <= since) return false
  return until === null || dayOf(Date.parse(day) - DAY_MS) < until
}

/** When a part was last written, in ms since 1970; null if it is gone. It may have been packed since it was listed. */
function writtenAt({ path, isPacked }: Slice): number | null {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found) return found.mtimeMs
  return isPacked ? null : (statSync(`${path}.gz`, { throwIfNoEntry: false })?.mtimeMs ?? null)
}

import type { DrainLine, Origin } from './formats.ts'

/** The size of a batch: what destinations accept without complaint. */
export const BATCH_BYTES = 512 * 1024

/** Consecutive lines of a source. */
export interface Batch {
  origin: Origin
  lines: DrainLine[]
  /** The number of the first line, and of the one after the last. */
  first: number
  next: number
}

/** What a drain sends: numbered lines that are stored, and are read in order. */
export interface Source {
  /** As in the record of how far a drain has come: the id of a service, or `AUDIT_LOG`. */
  id: string
  /** Aborts when there will be no more lines. */
  removed: AbortSignal
  /** Sets from which line on a drain sends, unless it is set: with `startsNow` the next one, otherwise the first. */
  begin(drainId: string, startsNow: boolean): Promise<void>
  /** Resolves when there may be more lines, or when the signal aborts. */
  more(signal: AbortSignal): Promise<void>
  /** The lines from a number on, at most `maxLines` and about `BATCH_BYTES`; null when there are none yet. */
  next(from: number, maxLines: number): Promise<Batch | null>
}

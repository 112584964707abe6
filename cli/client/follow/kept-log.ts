import type { LogEntry } from '#server/log.ts'
import type { ServiceLogLine } from '#server/logs/schema.ts'
import type { Api, Query } from '../api.ts'
import { acrossCuts, type Following, type Reading } from './cuts.ts'
import { Position, type Mark } from './position.ts'
import type { Sink } from './sink.ts'

/** More lines than any log has; the server sends as many as it can. */
const ALL_LINES = 999_999_999
/** The recent lines come at once after a stream was opened. */
const CAUGHT_UP_MS = 1_000

/** A log without an end, of which the server keeps the newest lines: of a service, a datastore or the server. */
export interface KeptLog {
  path: string
  /** Filters, the environment and `since` as they are now; not `tail` and `follow`. */
  query: () => Query
  /** How many recent lines come first. */
  tail: number
  follows: boolean
  /** Whether the server can be asked for lines from a time on. */
  hasSince: boolean
}

/** A line of any of these logs. */
export interface KeptLine {
  ts: string
}

/**
 * Reads the recent lines of a log and, if it is followed, the new ones, each once: after a cut it is read again from the last
 * lines that came. Resolves at its end; one that is followed has none. Throws as `acrossCuts` does.
 */
export async function readKeptLog<T extends KeptLine>(
  api: Api,
  log: KeptLog,
  following: Following,
  sink: Sink<T>,
): Promise<void> {
  const place: Place = { position: new Position(), isWhole: false }
  if (log.tail === 0 && log.follows) await placeAtEnd(api, log, place, following)
  await acrossCuts(following, (reading) => readOnce(api, log, place, reading, sink))
}

/** How far a log was read. */
interface Place {
  readonly position: Position
  /** Whether all lines that come are wanted, although none came yet: there were none before. */
  isWhole: boolean
}

/** Finds the last line, so that it is known after a cut which lines are new. */
async function placeAtEnd(api: Api, log: KeptLog, place: Place, { signal }: Following): Promise<void> {
  place.isWhole = true
  const query = { ...log.query(), tail: 1 }
  await api.events(log.path, query, signal ? { signal } : {}, {
    take(event, data) {
      if (event !== 'log') return
      place.position.beginAfter(data as KeptLine)
      place.isWhole = false
    },
  })
}

/** Reads the log over one connection, until it ends. */
async function readOnce<T extends KeptLine>(
  api: Api,
  log: KeptLog,
  place: Place,
  { options, isAgain, progressed }: Reading,
  sink: Sink<T>,
): Promise<void> {
  const { position } = place
  const passing = isAgain ? position.again() : new Position().again()
  const { since } = passing
  const isAll = isAgain && (since !== null || place.isWhole)
  const query = { ...log.query(), follow: log.follows || null, tail: isAll ? ALL_LINES : log.tail }
  let openedAt = Infinity
  const onOpen = (): void => {
    openedAt = performance.now()
    options.onOpen?.()
  }
  let hasToldGap = false
  const take = (event: string, data: unknown): void => {
    if (event === 'skipped') sink.skipped((data as { count: number }).count)
    if (event !== 'log') return
    const line = data as T
    const mark = markOf(log, line)
    if (mark && passing.isKnown(mark)) return
    if (passing.isGap && !hasToldGap) sink.skipped(null)
    hasToldGap = passing.isGap
    if (mark) position.add(mark)
    progressed()
    sink.line(line)
  }
  try {
    const all = { ...query, ...sinceOf(log, since) }
    await api.events(log.path, all, { ...options, onOpen }, { take, flush: () => sink.flush() })
  } finally {
    // The recent lines would have come by now.
    if (performance.now() - openedAt > CAUGHT_UP_MS) place.isWhole = true
  }
}

/** What is remembered of a line; null for one that the server adds for this reader alone: it does not come again. */
function markOf({ hasSince }: KeptLog, line: KeptLine): Mark | null {
  const { ts, stream, instance, service, ...said } = line as KeptLine & Partial<ServiceLogLine & LogEntry>
  if (hasSince && stream === 'system' && instance === undefined && service === undefined) return null
  // The server's own log begins again with the server, which then says the same again.
  const text = hasSince ? (said.line ?? '') : `${ts} ${said.message}`
  return { ts, text: service === undefined ? text : `${service} ${text}`, isOutput: stream !== 'system' }
}

function sinceOf({ hasSince }: KeptLog, since: number | null): Query {
  return hasSince && since !== null ? { since: new Date(since).toISOString() } : {}
}

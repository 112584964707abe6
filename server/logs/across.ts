import { timestamp } from '../clock.ts'
import { useContext } from '../context.ts'
import { takeTurn } from '../work/turns.ts'
import { AppError } from '../errors.ts'
import type { LineFilter } from './filter.ts'
import { Gathering } from './gathering.ts'
import { barsFor, type Counted } from './histogram.ts'
import { instanceDeploys } from './instances.ts'
import { storedLine, systemLine } from './lines.ts'
import type { Newest } from './newest.ts'
import type { LogReading } from './read.ts'
import { ReaderRoom } from './room.ts'
import type { LogHistogram, LogHistogramQuery, LogsQuery } from './schema.ts'
import type { NamedLog } from './search-parts.ts'
import { SearchThread } from './search-thread.ts'
import { selectLogs, sharedFilter, type Selection } from './selection.ts'
import { serviceLog } from './service-logs.ts'

/** The maximum number of recent lines per reader. */
const MAX_TAIL = 100_000
/** A histogram without a beginning. */
const DEFAULT_RANGE_MS = 3_600_000
const DAY_MS = 86_400_000

/**
 * Begins to read the logs of several services, as `openServiceLog` does for one: the last `tail` wanted lines, merged by time,
 * and with `follow` all that come after that, in the order in which they arrive. Lines are labelled. Throws `not_found`, and
 * `service_unavailable` when too many searches are running.
 */
export async function openLogs(query: LogsQuery, signal: AbortSignal): Promise<LogReading> {
  const selection = selectLogs(query)
  const filter = sharedFilter(query)
  const tail = Math.min(MAX_TAIL, query.tail)
  const room = new ReaderRoom()
  const gathering = query.follow ? new Gathering(selection, filter, signal) : null
  const leave = () => {
    room.give()
    gathering?.leave()
  }
  try {
    const logs = gathering ? await gathering.join() : await storedLogs(selection)
    const newest = await readStored(logs, { ...filter, instances: null }, tail, room, signal)
    const read = async function* (stop: AbortSignal) {
      yield* blocksOf(newest)
      room.give()
      if (gathering) yield* gathering.lines(stop)
    }
    return { read, leave }
  } catch (error) {
    leave()
    throw error
  }
}

/** Counts the lines of several services over a time. Throws as `openLogs` does, and `invalid_request`. */
export async function logHistogram(query: LogHistogramQuery, signal: AbortSignal): Promise<LogHistogram> {
  const selection = selectLogs(query)
  const { since, until } = rangeOf(query)
  const bars = barsFor(since, until, query.buckets)
  const range = { since: timestamp(since), until: timestamp(until) }
  const logs = await storedLogs(selection)
  const counted = await inThread({ ...sharedFilter(query), ...range, instances: null }, signal, (thread) =>
    thread.count(logs, bars),
  )
  const { uncountedBefore } = counted
  const countedFrom = uncountedBefore === null ? since : Math.min(until, Date.parse(uncountedBefore))
  return viewHistogram(bars, counted, countedFrom)
}

/** The time that is counted, in ms since 1970. Nothing is older than logs are kept, and nothing is to come. */
function rangeOf(query: LogHistogramQuery): { since: number; until: number } {
  const now = Date.now()
  const until = Math.min(now, query.until === undefined ? now : Date.parse(query.until))
  // A part is kept until its whole day is over.
  const oldest = now - useContext().options.logRetentionMs - 2 * DAY_MS
  const since = Math.max(
    oldest,
    query.since === undefined ? until - DEFAULT_RANGE_MS : Date.parse(query.since),
  )
  if (since >= until)
    throw new AppError(
      'invalid_request',
      'since: must be earlier than until and than now, and until within the time that logs are kept',
    )
  return { since, until }
}

function viewHistogram(
  { from, step, count }: ReturnType<typeof barsFor>,
  { counts, uncountedBefore }: Counted,
  countedFrom: number,
): LogHistogram {
  return {
    from: timestamp(from),
    until: timestamp(from + count * step),
    step_seconds: step / 1_000,
    complete: uncountedBefore === null,
    counted_from: timestamp(countedFrom),
    buckets: Array.from({ length: count }, (_, place) => ({
      at: timestamp(from + place * step),
      debug: counts.debug[place]!,
      info: counts.info[place]!,
      warn: counts.warn[place]!,
      error: counts.error[place]!,
    })),
  }
}

/** Everything that is stored, including all lines that were added before. */
async function storedLogs(selection: Selection): Promise<NamedLog[]> {
  const logs: NamedLog[] = []
  for (const service of selection.services()) {
    const instances = selection.instancesOf(service)
    if (instances?.length === 0) continue
    const slices = await serviceLog(service.id).stored()
    logs.push({ service, slices, instances, deploys: instanceDeploys(service.id) })
  }
  return logs
}

async function readStored(
  logs: readonly NamedLog[],
  filter: LineFilter,
  tail: number,
  room: ReaderRoom,
  signal: AbortSignal,
): Promise<Newest> {
  if (tail === 0) return { blocks: [], isCut: false, unsearchedBefore: null }
  const newest = await inThread(filter, signal, (thread) => thread.newest(logs, tail, room.left))
  for (const block of newest.blocks) room.take(block.length)
  return newest
}

async function inThread<T>(
  filter: LineFilter,
  signal: AbortSignal,
  work: (thread: SearchThread) => Promise<T>,
): Promise<T> {
  const thread = new SearchThread(filter, signal)
  try {
    return await work(thread)
  } finally {
    thread.end()
  }
}

async function* blocksOf({ blocks, isCut, unsearchedBefore }: Newest): AsyncGenerator<Buffer> {
  const advice = 'ask for fewer services, or for a shorter time'
  if (unsearchedBefore !== null)
    yield remark(`lines before ${unsearchedBefore} were not searched, which would take too long: ${advice}`)
  else if (isCut) yield remark(`older lines are left out here: ask for fewer lines, or for a shorter time`)
  for (const block of blocks) {
    await takeTurn()
    yield Buffer.from(block)
  }
}

function remark(text: string): Buffer {
  return Buffer.from(storedLine(systemLine(text)))
}

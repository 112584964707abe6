import { getDeploy } from '../deploys/store.ts'
import { AppError, messageOf } from '../errors.ts'
import { lostLine, systemLine, type LogLine } from './lines.ts'
import { takeTurn } from '../work/turns.ts'
import { lineMatcher, matchesAll, type LineFilter } from './filter.ts'
import { instanceDeploys } from './instances.ts'
import type { LineRing } from './ring.ts'
import { ReaderRoom } from './room.ts'
import type { ServiceLogQuery } from './schema.ts'
import { SearchThread } from './search-thread.ts'
import { serviceLog } from './service-logs.ts'
import type { Slice } from './parts.ts'
import { readTail, type Found } from './tail.ts'
import { Slots } from '../work/slots.ts'

/** The maximum number of recent lines per reader. */
const MAX_TAIL = 100_000
/** How many readers at a time may read stored lines without a thread. */
const MAX_LOOKS = 8

const looks = new Slots(MAX_LOOKS)

/** Filters a block of live lines. */
type Live = (block: Buffer) => Buffer | Promise<Buffer>

/** One reading of a service's log. */
export interface LogReading {
  /** Blocks of stored lines: the recent ones, and with `follow` the new ones, until the service is gone. */
  read(signal: AbortSignal): AsyncGenerator<Buffer>
  /** Must be called when reading has ended. */
  leave(): void
}

/** Turns the query of a service's log into a filter. Throws `not_found` for a deploy of another service. */
export function filterOf(serviceId: string, query: ServiceLogQuery): LineFilter {
  return {
    since: query.since ?? null,
    until: query.until ?? null,
    stream: query.stream ?? null,
    instances: instancesWanted(serviceId, query),
    levels: query.level ?? null,
    search: query.search ?? null,
  }
}

/**
 * Begins to read the log of a service. The reader gets the last `tail` wanted lines that were added before this function
 * returns and, with `follow`, all wanted lines after that. Throws `service_unavailable` when too many searches are running.
 */
export async function openServiceLog(
  serviceId: string,
  query: ServiceLogQuery,
  signal: AbortSignal,
): Promise<LogReading> {
  const filter = filterOf(serviceId, query)
  const tail = Math.min(MAX_TAIL, query.tail)
  const own = serviceLog(serviceId)
  const room = new ReaderRoom()
  if (!query.follow) {
    const slices = await own.stored()
    const found = await look(slices, filter, tail, room, signal)
    return { read: () => blocksOf(found, room), leave: () => room.give() }
  }
  const { slices, ring, position } = await own.join()
  const leave = () => {
    room.give()
    own.leave()
  }
  try {
    const live = liveFilter(filter, signal)
    if (matchesAll(filter) && ring.reaches(tail)) {
      const start = ring.tail(tail)
      return { read: (stop) => followed(own.removed, ring, start, live, stop), leave }
    }
    const found = await look(slices, filter, tail, room, signal)
    const read = async function* (stop: AbortSignal) {
      yield* blocksOf(found, room)
      yield* followed(own.removed, ring, position, live, stop)
    }
    return { read, leave }
  } catch (error) {
    leave()
    throw error
  }
}

/** Finds recent lines. When it fails, it holds no memory for them. */
async function look(
  slices: readonly Slice[],
  filter: LineFilter,
  tail: number,
  room: ReaderRoom,
  signal: AbortSignal,
): Promise<Found> {
  try {
    return await findIn(slices, filter, tail, room, signal)
  } catch (error) {
    room.give()
    throw error
  }
}

/** Reads in a separate thread when every line has to be searched. */
async function findIn(
  slices: readonly Slice[],
  filter: LineFilter,
  tail: number,
  room: ReaderRoom,
  signal: AbortSignal,
): Promise<Found> {
  if (filter.search === null || tail === 0) {
    const matcher = matchesAll(filter) ? null : lineMatcher(filter)
    return looks.run(() => readTail(slices, matcher, tail, room, signal))
  }
  const thread = new SearchThread(filter, signal)
  try {
    const found = await thread.tail(slices, tail, room.left)
    for (const block of found.blocks) room.take(block.length)
    return found
  } finally {
    thread.end()
  }
}

async function* blocksOf({ blocks, isCut }: Found, room: ReaderRoom): AsyncGenerator<Buffer> {
  if (isCut)
    yield asBlock(systemLine('older lines are left out here: ask for fewer lines, or for a shorter time'))
  for (const block of blocks) {
    await takeTurn()
    yield block
    room.give(block.length)
  }
}

/**
 * The lines of a ring from a position on, as far as `live` wants them (all without it), until `removed` or `signal` aborts. A
 * line says how many are missing when the reader fell behind.
 */
export async function* followed(
  removed: AbortSignal,
  ring: LineRing,
  start: number,
  live: Live | null,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const stop = AbortSignal.any([signal, removed])
  for (let position = start; !signal.aborted;) {
    await takeTurn()
    const taken = ring.take(position)
    if (taken) {
      position = taken.next
      if (taken.lost > 0) yield asBlock(lostLine(taken.lost, 'this reader fell behind'))
      try {
        const text = live ? await live(taken.text) : taken.text
        if (text.length > 0) yield text
      } catch (error) {
        // The stream ends without an `end` event, which tells its reader that it is incomplete.
        yield asBlock(systemLine(messageOf(error)))
        return
      }
    } else if (stop.aborted) return
    else await ring.grown.wait(stop)
  }
}

/** Returns a filter for new lines; null when all are wanted. An expression is matched in a thread. */
export function liveFilter(filter: LineFilter, signal: AbortSignal): Live | null {
  if (matchesAll(filter)) return null
  if (filter.search && 'expression' in filter.search) {
    const thread = new SearchThread(filter, signal)
    return (block) => thread.match(block)
  }
  const matcher = lineMatcher(filter)
  return (block) =>
    Buffer.from(
      matcher(block.toString('utf8'))
        .map((line) => `${line}\n`)
        .join(''),
    )
}

function instancesWanted(serviceId: string, { instance, deploy }: ServiceLogQuery): string[] | null {
  if (instance === undefined && deploy === undefined) return null
  const known = instanceDeploys(serviceId)
  if (
    deploy !== undefined &&
    getDeploy(deploy)?.service_id !== serviceId &&
    ![...known.values()].includes(deploy)
  )
    throw new AppError('not_found', `there is no deploy ${deploy} of this service`)
  const ofDeploy = [...known].filter(([, of]) => deploy === undefined || of === deploy).map(([id]) => id)
  if (instance === undefined) return ofDeploy
  // The dashboard shows only the end of an instance's name.
  const named = ofDeploy.filter((id) => id === instance || id.endsWith(`-${instance}`))
  return named.length > 0 || deploy !== undefined ? named : [instance]
}

function asBlock(line: LogLine): Buffer {
  return Buffer.from(`${JSON.stringify(line)}\n`)
}

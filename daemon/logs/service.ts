import { timestamp } from '#server/clock.ts'
import { instancesOf } from '#server/instances/store.ts'
import type { LogLine } from '#server/log-lines.ts'
import { takeTurn } from '#server/turns.ts'
import type { Engine } from '../engine/index.ts'
import { inOrder, MAX_TAIL, ServiceFeed, type TimedLine } from './feed.ts'
import { toLogLine } from './follow.ts'
import { notesOf } from './notes.ts'

const feeds = new Map<string, { feed: ServiceFeed; followers: number }>()

/** One who follows a service's log. */
export interface Follower {
  /** Blocks of stored lines, until the service is gone or the signal aborts. Lines that were missed are counted in one. */
  read(signal: AbortSignal): AsyncGenerator<Buffer>
  /** To be called once nothing more is read. */
  leave(): void
}

/** The last `tail` lines of a service's containers with the server's own about them, in the order of their time. */
export async function recentServiceLog(
  engine: Engine,
  serviceId: string,
  tail: number,
  signal: AbortSignal,
): Promise<LogLine[]> {
  const wanted = Math.min(MAX_TAIL, tail)
  if (wanted === 0) return []
  const read = instancesOf(serviceId).map(({ id }) => readRecent(engine, id, wanted, signal))
  const printed = (await Promise.all(read)).flat()
  const noted = notesOf(serviceId).map((line) => ({ line, time: line.ts }))
  return inOrder([...printed, ...noted])
    .slice(-wanted)
    .map(({ line }) => line)
}

/**
 * Joins the followers of a service's log, also across its deploys: who reads gets the last `tail` lines that were printed
 * before this has returned, and everything after. All followers share one reader, and none slows it or another down.
 * Throws `runtime_error`.
 */
export async function joinServiceLog(engine: Engine, serviceId: string, tail: number): Promise<Follower> {
  const shared = feeds.get(serviceId) ?? { feed: new ServiceFeed(engine, serviceId), followers: 0 }
  feeds.set(serviceId, shared)
  shared.followers++
  const { feed } = shared
  const leave = () => {
    shared.followers--
    if (shared.followers > 0) return
    feed.end()
    if (feeds.get(serviceId) === shared) feeds.delete(serviceId)
  }
  try {
    await feed.joined
  } catch (error) {
    leave()
    throw error
  }
  const start = feed.lines.tail(Math.min(MAX_TAIL, tail))
  return { read: (signal) => readFeed(feed, start, signal), leave }
}

async function* readFeed(feed: ServiceFeed, start: number, signal: AbortSignal): AsyncGenerator<Buffer> {
  const stop = AbortSignal.any([signal, feed.signal])
  for (let position = start; !signal.aborted;) {
    await takeTurn()
    const taken = feed.lines.take(position)
    if (taken) {
      position = taken.next
      if (taken.lost > 0) yield lostLine(taken.lost)
      yield taken.text
    } else if (stop.aborted) return
    else await feed.lines.grown.wait(stop)
  }
}

function lostLine(count: number): Buffer {
  const lines = count === 1 ? '1 line was' : `${count} lines were`
  const line: LogLine = {
    ts: timestamp(Date.now()),
    stream: 'system',
    line: `${lines} lost here: this reader fell behind`,
  }
  return Buffer.from(`${JSON.stringify(line)}\n`)
}

async function readRecent(
  engine: Engine,
  id: string,
  tail: number,
  signal: AbortSignal,
): Promise<TimedLine[]> {
  const lines: TimedLine[] = []
  if ((await engine.containers.inspect(id)) === null) return lines
  for await (const output of engine.containers.logs(id, { tail, signal })) {
    lines.push({ line: toLogLine(id, output), time: output.ts })
  }
  return lines
}

import { onChange } from '#server/changes.ts'
import { instancesOf } from '#server/instances/store.ts'
import type { LogLine } from '#server/log-lines.ts'
import { BoundedQueue } from '#server/queue.ts'
import { getService } from '#server/services/store.ts'
import type { Engine } from '../engine/index.ts'
import { followContainer, toLogLine, type FollowedLine } from './follow.ts'
import { followNotes, notesOf } from './notes.ts'

/** Lines that a follower may be behind before it misses some. */
const FOLLOWER_LINES = 4_096
/** The most recent lines that are read into memory, of each container. */
const MAX_TAIL = 10_000
/** A look for new containers even when nothing was told. */
const LOOK_MS = 2_000

/** A line, or how many lines a follower that was too slow has missed. */
export type ServiceLogItem = { line: LogLine } | { skipped: number }

/**
 * The output of all of a service's containers, with the server's own lines about them: the last `tail` lines in the order of their time, then, following,
 * what comes, also from the containers of later deploys, until the service is gone or `signal` aborts.
 */
export async function* readServiceLog(
  engine: Engine,
  serviceId: string,
  tail: number,
  follow: boolean,
  signal: AbortSignal,
): AsyncGenerator<ServiceLogItem> {
  const instances = instancesOf(serviceId).map(({ id }) => id)
  const printed = (await Promise.all(instances.map((id) => readRecent(engine, id, tail, signal)))).flat()
  const noted = notesOf(serviceId).map((line) => ({ line, engineTime: line.ts }))
  const recent = [...printed, ...noted]
  recent.sort((left, right) =>
    left.engineTime < right.engineTime ? -1 : left.engineTime > right.engineTime ? 1 : 0,
  )
  for (const { line } of tail === 0 ? [] : recent.slice(-Math.min(MAX_TAIL, tail))) yield { line }
  if (!follow) return
  const seen = new Map(
    instances.map((id) => [id, printed.findLast(({ line }) => line.instance === id)?.engineTime]),
  )
  yield* followAll(engine, serviceId, seen, signal)
}

async function readRecent(
  engine: Engine,
  id: string,
  tail: number,
  signal: AbortSignal,
): Promise<FollowedLine[]> {
  // At least one, to know from where to follow on.
  const wanted = Math.min(MAX_TAIL, Math.max(1, tail))
  const lines: FollowedLine[] = []
  if ((await engine.containers.inspect(id)) === null) return lines
  for await (const output of engine.containers.logs(id, { tail: wanted, follow: false, signal })) {
    lines.push({ line: toLogLine(id, output), engineTime: output.ts })
  }
  return lines
}

async function* followAll(
  engine: Engine,
  serviceId: string,
  seen: Map<string, string | undefined>,
  signal: AbortSignal,
): AsyncGenerator<ServiceLogItem> {
  const ended = new AbortController()
  const stop = AbortSignal.any([signal, ended.signal])
  const queue = new BoundedQueue<LogLine>(FOLLOWER_LINES, stop)
  const followed = new Set<string>()
  const follow = async (id: string) => {
    for await (const { line, engineTime } of followContainer(engine, id, seen.get(id), stop)) {
      seen.set(id, engineTime)
      queue.push(line)
    }
  }
  const followNew = () => {
    if (!getService(serviceId)) return ended.abort()
    for (const { id } of instancesOf(serviceId)) {
      if (followed.has(id)) continue
      followed.add(id)
      void follow(id).finally(() => followed.delete(id))
    }
  }
  const stopNotes = followNotes(serviceId, (line) => queue.push(line))
  const stopListening = onChange(({ service_id }) => {
    if (service_id === serviceId) followNew()
  })
  const period = setInterval(followNew, LOOK_MS)
  try {
    followNew()
    for await (const line of queue) {
      const skipped = queue.takeDropped()
      if (skipped > 0) yield { skipped }
      yield { line }
    }
  } finally {
    stopNotes()
    stopListening()
    clearInterval(period)
    ended.abort()
  }
}

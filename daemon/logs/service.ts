import { onChange } from '#server/changes.ts'
import { instancesOf } from '#server/instances/store.ts'
import type { LogLine } from '#server/log-lines.ts'
import { cleanLine } from '#server/log-lines.ts'
import { BoundedQueue } from '#server/queue.ts'
import { getService } from '#server/services/store.ts'
import type { Engine } from '../engine/index.ts'

/** Lines that a follower may be behind before it misses some. */
const FOLLOWER_LINES = 4_096
/** Between tries to follow a container that ended and may be started again. */
const RESUME_MS = 500

/** A line, or how many lines a follower that was too slow has missed. */
export type ServiceLogItem = { line: LogLine } | { skipped: number }

/**
 * The output of all of a service's containers: the last `tail` lines in the order of their time, then, following,
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
  const recent = (await Promise.all(instances.map((id) => readRecent(engine, id, tail, signal)))).flat()
  recent.sort((left, right) => (left.ts < right.ts ? -1 : left.ts > right.ts ? 1 : 0))
  for (const line of tail === 0 ? [] : recent.slice(-tail)) yield { line }
  if (!follow) return
  const seen = new Map(instances.map((id) => [id, recent.findLast(({ instance }) => instance === id)?.ts]))
  yield* followAll(engine, serviceId, seen, signal)
}

async function readRecent(engine: Engine, id: string, tail: number, signal: AbortSignal): Promise<LogLine[]> {
  // At least one, to know from where to follow on.
  const lines: LogLine[] = []
  if ((await engine.containers.inspect(id)) === null) return lines
  for await (const entry of engine.containers.logs(id, { tail: Math.max(1, tail), follow: false, signal })) {
    lines.push({ ...entry, line: cleanLine(entry.line), instance: id })
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
  const followNew = () => {
    if (!getService(serviceId)) return ended.abort()
    for (const { id } of instancesOf(serviceId)) {
      if (followed.has(id)) continue
      followed.add(id)
      void followOne(engine, id, seen.get(id), queue, stop).finally(() => followed.delete(id))
    }
  }
  const stopListening = onChange(({ service_id }) => {
    if (service_id === serviceId) followNew()
  })
  const period = setInterval(followNew, RESUME_MS * 4)
  try {
    followNew()
    for await (const line of queue) {
      const skipped = queue.takeDropped()
      if (skipped > 0) yield { skipped }
      yield { line }
    }
  } finally {
    stopListening()
    clearInterval(period)
    ended.abort()
  }
}

/** Follows one container across its restarts, until it is removed. */
async function followOne(engine: Engine, id: string, since: string | undefined, queue: BoundedQueue<LogLine>, signal: AbortSignal): Promise<void> {
  let last = since
  while (!signal.aborted) {
    try {
      if ((await engine.containers.inspect(id)) === null) return
      for await (const entry of engine.containers.logs(id, { since: last, follow: true, signal })) {
        if (last !== undefined && entry.ts <= last) continue
        last = entry.ts
        queue.push({ ...entry, line: cleanLine(entry.line), instance: id })
      }
    } catch {
      // The engine may be away for a while; the next round asks again.
    }
    await new Promise((resolve) => setTimeout(resolve, RESUME_MS))
  }
}

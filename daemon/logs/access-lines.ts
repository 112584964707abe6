import { setTimeout as delay } from 'node:timers/promises'
import { timestamp } from '#server/clock.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { lostLine, type LogLine } from '#server/logs/lines.ts'
import { serviceLog } from '#server/logs/service-logs.ts'
import { getService } from '#server/services/store.ts'
import { withoutSecrets } from '#server/text/redaction.ts'
import type { AccessLine, AccessLines } from '#proxy/protocol.ts'
import type { DataPlane } from '../proxy/data-plane.ts'
import type { LineSource } from '../proxy/other-planes.ts'
import type { Task } from '../work/driver.ts'

const log = logger('logs')

/** How old lines are when they come into the log. */
const EVERY_MS = 250
/** The same while so many come that a worker could run out of room. */
const BUSY_MS = 50
/** Other nodes may say anything: of each, so many lines are taken in a turn, and turns begin so long after each other. */
const MAX_LINES = 16_384
const TURN_MS = 200
/** The same after an answer that was not right. */
const REST_MS = 5_000

/** The task that takes lines of access logs from the data planes, while a service has one. */
export function accessLines(dataPlane: DataPlane): Task {
  // At the start, lines from before it may wait; after the last service has turned its log off, its last ones.
  let mayWait = true
  const takeFromOthers = othersTaker()
  return {
    name: 'access logs',
    everyMs: EVERY_MS,
    async run(signal) {
      const { logsAccess, others } = dataPlane
      if (!mayWait && !logsAccess) return
      for (;;) {
        takeFromOthers(others?.sources() ?? new Map(), signal)
        if (!(await takeLines(dataPlane, signal))) break
        await delay(BUSY_MS, undefined, { signal })
      }
      mayWait = logsAccess
    },
  }
}

/** Takes lines of other nodes, each by itself: one that is slow does not hold up the rest. */
export function othersTaker(): (sources: ReadonlyMap<string, LineSource>, signal: AbortSignal) => void {
  /** When each may be asked again. */
  const nextAt = new Map<string, number>()
  return (sources, signal) => {
    for (const [node, source] of sources) {
      if (performance.now() < (nextAt.get(node) ?? 0)) continue
      nextAt.set(node, Infinity)
      void takeLines(source, signal, MAX_LINES)
        .then(
          () => TURN_MS,
          (error: unknown) => {
            // What does not answer is told by those who keep it.
            log.debug('no lines of access logs are taken from a node', { node, error: messageOf(error) })
            return REST_MS
          },
        )
        .then((pauseMs) => nextAt.set(node, performance.now() + pauseMs))
    }
  }
}

/** Takes all lines that wait, or so many; returns whether they were more than one answer has. */
async function takeLines(source: LineSource, signal: AbortSignal, max = Infinity): Promise<boolean> {
  for (let answers = 1, lines = 0; ; answers++) {
    const taken = await source.accessLines()
    storeAccessLines(taken)
    lines += taken.lines.length
    const isEnough = taken.lines.length === 0 || lines >= max
    if (!taken.more || signal.aborted || isEnough) return answers > 1
  }
}

/** Adds lines to the logs of their services, in the order of the requests' ends. */
export function storeAccessLines({ lines, lost }: AccessLines): void {
  const byService = Map.groupBy(lines, ([service]) => service)
  for (const [service, own] of byService) {
    // Its log would come back to life.
    if (!getService(service)) continue
    serviceLog(service).append(own.toSorted(([, left], [, right]) => left - right).map(logLine))
  }
  for (const [service, count] of Object.entries(lost))
    if (getService(service))
      serviceLog(service).append([lostLine(count, 'requests ended faster than they can be logged')])
}

/** What may be a secret, such as an `access_token` in a query, is left out. */
function logLine(request: AccessLine): LogLine {
  const [, at, method, host, path, status, bytes, milliseconds, ip, userAgent, requestId, instance] = request
  const line = JSON.stringify({
    method,
    host,
    path: withoutSecrets(path),
    status,
    bytes,
    duration_ms: milliseconds,
    ip,
    user_agent: userAgent === null ? null : withoutSecrets(userAgent),
    request_id: requestId,
    instance,
  })
  return { ts: timestamp(at), stream: 'access', line, ...(instance === null ? {} : { instance }) }
}

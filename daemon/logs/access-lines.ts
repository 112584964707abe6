import { setTimeout as delay } from 'node:timers/promises'
import { timestamp } from '#server/clock.ts'
import { lostLine, type LogLine } from '#server/logs/lines.ts'
import { serviceLog } from '#server/logs/service-logs.ts'
import { getService } from '#server/services/store.ts'
import { withoutSecrets } from '#server/text/redaction.ts'
import type { AccessLine, AccessLines } from '#proxy/protocol.ts'
import type { DataPlane } from '../proxy/data-plane.ts'
import type { Task } from '../work/driver.ts'

/** How old lines are when they come into the log. */
const EVERY_MS = 250
/** The same while so many come that a worker could run out of room. */
const BUSY_MS = 50

/** The task that takes lines of access logs from the data plane, while a service has one. */
export function accessLines(dataPlane: DataPlane): Task {
  // At the start, lines from before it may wait; after the last service has turned its log off, its last ones.
  let mayWait = true
  return {
    name: 'access logs',
    everyMs: EVERY_MS,
    async run(signal) {
      const { logsAccess } = dataPlane
      if (!mayWait && !logsAccess) return
      while (await takeLines(dataPlane, signal)) await delay(BUSY_MS, undefined, { signal })
      mayWait = logsAccess
    },
  }
}

/** Takes all lines that wait; returns whether they were more than one answer has. */
async function takeLines(dataPlane: DataPlane, signal: AbortSignal): Promise<boolean> {
  for (let answers = 1; ; answers++) {
    const taken = await dataPlane.accessLines()
    storeAccessLines(taken)
    if (!taken.more || signal.aborted) return answers > 1
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

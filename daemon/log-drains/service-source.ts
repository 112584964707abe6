import { environmentName } from '#server/destinations/frame.ts'
import { beginAt, placeOf } from '#server/log-drains/store.ts'
import { linesIn } from '#server/logs/filter.ts'
import { ForwardReader } from '#server/logs/forward.ts'
import type { LogLine } from '#server/logs/lines.ts'
import { serviceLog } from '#server/logs/service-logs.ts'
import { getService } from '#server/services/store.ts'
import type { Origin } from './formats.ts'
import { BATCH_BYTES, type Source } from './source.ts'

/** The log of a service. */
export function serviceSource(id: string): Source {
  const own = serviceLog(id)
  const reader = new ForwardReader()
  return {
    id,
    removed: own.removed,
    async begin(drainId, startsNow) {
      if (placeOf(drainId, id) === null) beginAt(drainId, id, startsNow ? await own.end() : 0)
    },
    more: (signal) => own.grown.wait(signal),
    async next(from, maxLines) {
      const origin = originOf(id)
      if (!origin) return null
      const batch = await reader.next(await own.stored(), from, maxLines, BATCH_BYTES)
      if (!batch) return null
      const lines = linesIn(batch.text.toString('utf8')).map((line) => JSON.parse(line) as LogLine)
      return { origin, lines, first: batch.first, next: batch.first + batch.count }
    },
  }
}

function originOf(serviceId: string): Origin | null {
  const service = getService(serviceId)
  return service
    ? { serviceId, service: service.name, environment: environmentName(service.environment_id)! }
    : null
}

import { z } from 'zod'
import { useWorld } from '#daemon/index.ts'
import { readServiceLog } from '#daemon/logs/service.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { eventStream, sendEvents } from '#server/http/event-stream.ts'
import { InEnvironment, LogTail, QueryBoolean } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { findService } from '#server/services/operations.ts'

/** Recent lines when the request does not say how many. */
const DEFAULT_TAIL = 100

export default defineEndpoint({
  summary: "Read the output of a service's containers",
  auth: 'token',
  params: IdOrName,
  query: z.strictObject({ ...InEnvironment.shape, follow: QueryBoolean, tail: LogTail(DEFAULT_TAIL) }),
  response: eventStream('Events `log` with a LogLine, `skipped` with {count}, and `end` unless it follows'),
  errors: ['runtime_error'],
  async handler({ event, params, query }) {
    const service = findService(params.id, query.environment)
    const { engine } = useWorld()
    await engine.info()
    await sendEvents(event, async function* (signal) {
      for await (const item of readServiceLog(engine, service.id, query.tail, query.follow, signal)) {
        yield 'line' in item
          ? { event: 'log', data: item.line }
          : { event: 'skipped', data: { count: item.skipped } }
      }
      if (!query.follow) yield { event: 'end' }
    })
  },
})

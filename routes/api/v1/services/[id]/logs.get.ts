import { z } from 'zod'
import { useWorld } from '#daemon/index.ts'
import { joinServiceLog, recentServiceLog } from '#daemon/logs/service.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { eventStream, sendEvents } from '#server/http/event-stream.ts'
import { logEvents } from '#server/http/log-events.ts'
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
  response: eventStream('Events `log` with a LogLine, and `end` unless it follows'),
  errors: ['runtime_error'],
  async handler({ event, params, query }) {
    const service = findService(params.id, query.environment)
    const { engine } = useWorld()
    if (!query.follow) {
      await engine.info()
      await sendEvents(event, async function* (signal) {
        const recent = await recentServiceLog(engine, service.id, query.tail, signal)
        for (const line of recent) yield { event: 'log', data: line }
        yield { event: 'end' }
      })
      return
    }
    // Joined before the answer begins: who has seen its head misses nothing that is printed from then on.
    const follower = await joinServiceLog(engine, service.id, query.tail)
    try {
      await sendEvents(event, async function* (signal) {
        for await (const block of follower.read(signal)) yield logEvents(block)
      })
    } finally {
      follower.leave()
    }
  },
})

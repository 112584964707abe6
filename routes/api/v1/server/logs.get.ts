import { z } from 'zod'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { eventStream, sendEvents } from '#server/http/event-stream.ts'
import { LogTail, QueryBoolean } from '#server/http/query.ts'
import { followLog, LOG_LEVELS, rank, recentLog } from '#server/log.ts'

const ALL_LINES = 2_000

export default defineEndpoint({
  summary: "Read the server's own log",
  auth: 'token',
  least: 'read',
  query: z.strictObject({
    follow: QueryBoolean,
    tail: LogTail(ALL_LINES),
    level: z
      .enum(LOG_LEVELS)
      .default('debug')
      .meta({ examples: ['info'] }),
  }),
  response: eventStream(
    'Events `log` with {ts, level, target, message, fields}, `skipped` with {count}, and `end` unless it follows',
  ),
  handler: ({ event, query }) =>
    sendEvents(event, async function* (signal) {
      const followed = query.follow ? followLog(signal) : null
      for (const entry of recentLog(query.level, query.tail)) yield { event: 'log', data: entry }
      if (!followed) {
        yield { event: 'end' }
        return
      }
      for await (const entry of followed) {
        const count = followed.takeDropped()
        if (count > 0) yield { event: 'skipped', data: { count } }
        if (rank(entry.level) >= rank(query.level)) yield { event: 'log', data: entry }
      }
    }),
})

import { defineEndpoint } from '#server/http/endpoint.ts'
import { leftSignal } from '#server/http/event-stream.ts'
import { logHistogram } from '#server/logs/across.ts'
import { LogHistogram, LogHistogramQuery } from '#server/logs/schema.ts'

export default defineEndpoint({
  summary: 'Count the log lines of several services over time',
  description:
    'Takes the filters of `GET /logs`, and counts the lines of each level in buckets of `step_seconds` between `since` (an hour before `until` when absent) and `until` (now when absent). The newest lines are counted first. After 5 s, `complete` is false and only what is after `counted_from` is counted in full.',
  auth: 'token',
  least: 'read',
  within: 'service',
  query: LogHistogramQuery,
  response: LogHistogram,
  errors: ['not_found', 'service_unavailable'],
  handler: ({ event, query }) => logHistogram(query, leftSignal(event)),
})

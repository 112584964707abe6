import { useMetrics } from '#daemon/index.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { HistoryQuery, MetricsHistory } from '#server/metrics/schema.ts'

export default defineEndpoint({
  summary: 'Read what the host, containers and requests did in the last hours',
  auth: 'token',
  least: 'read',
  query: HistoryQuery,
  response: MetricsHistory,
  handler: ({ query }) => useMetrics().history(query.range),
})

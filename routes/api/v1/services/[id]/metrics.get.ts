import { useMetrics } from '#daemon/index.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { HistoryQuery, ServiceMetrics } from '#server/metrics/schema.ts'
import { IdOrName } from '#server/schema.ts'
import { findService } from '#server/services/operations.ts'

export default defineEndpoint({
  summary: 'Read what the instances of a service used in the last hours, and its requests',
  auth: 'token',
  least: 'read',
  within: 'service',
  params: IdOrName,
  query: HistoryQuery.extend(InEnvironment.shape),
  response: ServiceMetrics,
  handler: ({ params, query }) =>
    useMetrics().historyOf(findService(params.id, query.environment).id, query.range),
})

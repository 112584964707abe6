import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { findService, suspendService } from '#server/services/operations.ts'
import { Service } from '#server/services/schema.ts'
import { applied } from '#daemon/work/settled.ts'

export default defineEndpoint({
  summary: 'Stop a service and keep its settings',
  description: 'Cancels a deploy in progress. Suspending twice changes nothing.',
  auth: 'token',
  least: 'full',
  within: 'service',
  params: IdOrName,
  query: InEnvironment,
  response: Service,
  errors: ['conflict', 'runtime_error'],
  handler: ({ params, query }) => applied(suspendService(findService(params.id, query.environment))),
})

import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { findService } from '#server/services/operations.ts'
import { Service } from '#server/services/schema.ts'
import { viewService } from '#server/services/view.ts'

export default defineEndpoint({
  summary: 'Read a service',
  auth: 'token',
  least: 'read',
  within: 'service',
  params: IdOrName,
  query: InEnvironment,
  response: Service,
  handler: ({ params, query }) => viewService(findService(params.id, query.environment)),
})

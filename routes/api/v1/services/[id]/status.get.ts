import { serviceStatus } from '#daemon/instances/status.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { findService } from '#server/services/operations.ts'
import { ServiceStatus } from '#server/services/schema.ts'

export default defineEndpoint({
  summary: 'Read what a service and its instances are doing',
  auth: 'token',
  least: 'read',
  within: 'service',
  params: IdOrName,
  query: InEnvironment,
  response: ServiceStatus,
  handler: ({ params, query }) => serviceStatus(findService(params.id, query.environment)),
})

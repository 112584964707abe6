import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { customDomainsOf } from '#server/services/hosts.ts'
import { findService } from '#server/services/operations.ts'
import { CustomDomains } from '#server/services/schema.ts'

export default defineEndpoint({
  summary: "List a service's custom domains",
  auth: 'token',
  least: 'read',
  within: 'service',
  params: IdOrName,
  query: InEnvironment,
  response: CustomDomains,
  handler: ({ params, query }) => customDomainsOf(findService(params.id, query.environment)),
})

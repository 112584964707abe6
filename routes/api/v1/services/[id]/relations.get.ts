import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { findService } from '#server/services/operations.ts'
import { relationsOf, ServiceRelations } from '#server/variables/relations.ts'

export default defineEndpoint({
  summary: 'Show what a service depends on, and what depends on it',
  description:
    'By the `${{...}}` references in their variables, and in those of linked env groups that take effect.',
  auth: 'token',
  least: 'read',
  within: 'service',
  params: IdOrName,
  query: InEnvironment,
  response: ServiceRelations,
  handler: ({ params, query }) => relationsOf(findService(params.id, query.environment)),
})

import { linkEnvGroup } from '#server/env-groups/operations.ts'
import { EnvGroupLink } from '#server/env-groups/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { findService } from '#server/services/operations.ts'
import { Service } from '#server/services/schema.ts'
import { viewService } from '#server/services/view.ts'

export default defineEndpoint({
  summary: 'Link a service to an env group',
  description:
    'The group applies from the next deploy or restart and wins over those linked before. Linking twice changes nothing.',
  auth: 'token',
  audit: 'service.env_group_linked',
  changes: (_, { group }) => [`group: ${group}`],
  least: 'full',
  within: 'service',
  params: IdOrName,
  query: InEnvironment,
  body: EnvGroupLink,
  response: Service,
  errors: ['conflict'],
  handler: ({ params, query, body }) =>
    viewService(linkEnvGroup(findService(params.id, query.environment), body.group)),
})

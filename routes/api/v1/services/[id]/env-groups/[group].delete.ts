import { unlinkEnvGroup } from '#server/env-groups/operations.ts'
import { EnvGroupLinkRef } from '#server/env-groups/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { findService } from '#server/services/operations.ts'
import { Service } from '#server/services/schema.ts'
import { viewService } from '#server/services/view.ts'

export default defineEndpoint({
  summary: 'Unlink a service from an env group',
  description: 'Its variables are removed from the containers at the next deploy or restart.',
  auth: 'token',
  audit: 'service.env_group_unlinked',
  least: 'full',
  within: 'service',
  params: EnvGroupLinkRef,
  query: InEnvironment,
  response: Service,
  errors: ['conflict'],
  handler: ({ params, query }) =>
    viewService(unlinkEnvGroup(findService(params.id, query.environment), params.group)),
})

import { EnvGroup } from '#server/env-groups/schema.ts'
import { findEnvGroup } from '#server/env-groups/store.ts'
import { viewEnvGroup } from '#server/env-groups/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Read an env group',
  auth: 'token',
  audit: 'env_group.variables_read',
  least: 'read',
  within: 'service',
  params: IdOrName,
  response: EnvGroup,
  handler: ({ params }) => viewEnvGroup(findEnvGroup(params.id)),
})

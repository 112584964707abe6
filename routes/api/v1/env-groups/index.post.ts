import { createEnvGroup } from '#server/env-groups/operations.ts'
import { EnvGroup, EnvGroupInput } from '#server/env-groups/schema.ts'
import { viewEnvGroup } from '#server/env-groups/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Create an env group',
  description: 'Its references are checked in the environment of each service that is linked to it.',
  auth: 'token',
  least: 'full',
  status: 201,
  body: EnvGroupInput,
  response: EnvGroup,
  errors: ['conflict'],
  handler: ({ body }) => viewEnvGroup(createEnvGroup(body)),
})

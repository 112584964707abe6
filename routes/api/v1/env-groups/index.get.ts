import { z } from 'zod'
import { EnvGroup } from '#server/env-groups/schema.ts'
import { viewEnvGroups } from '#server/env-groups/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'List the env groups by name',
  auth: 'token',
  audit: 'env_group.variables_read',
  least: 'read',
  within: 'service',
  response: z.array(EnvGroup),
  handler: () => viewEnvGroups(),
})

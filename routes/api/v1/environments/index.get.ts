import { z } from 'zod'
import { Environment } from '#server/environments/schema.ts'
import { viewEnvironments } from '#server/environments/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'List the environments, production first',
  auth: 'token',
  least: 'read',
  within: 'service',
  response: z.array(Environment),
  handler: () => viewEnvironments(),
})

import { z } from 'zod'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { revokeToken } from '#server/tokens/operations.ts'

export default defineEndpoint({
  summary: 'Revoke an API token',
  description: 'It stops working at once.',
  auth: 'session',
  least: 'full',
  params: z.object({ id: z.string().meta({ examples: ['tok-0123456789abcdef0123'] }) }),
  errors: ['not_found'],
  handler: ({ params }) => revokeToken(params.id),
})

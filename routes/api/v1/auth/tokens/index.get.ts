import { z } from 'zod'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { listTokens } from '#server/tokens/operations.ts'
import { ApiToken } from '#server/tokens/schema.ts'

export default defineEndpoint({
  summary: 'List API tokens',
  description:
    'Newest first. The server token, the file api_token in the data directory, has no record and is not listed.',
  auth: 'session',
  least: 'full',
  response: z.array(ApiToken),
  handler: () => listTokens(),
})

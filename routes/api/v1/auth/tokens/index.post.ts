import { defineEndpoint } from '#server/http/endpoint.ts'
import { createToken } from '#server/tokens/operations.ts'
import { CreatedApiToken, NewApiToken } from '#server/tokens/schema.ts'

export default defineEndpoint({
  summary: 'Create an API token',
  description: 'The token appears only in this answer; the server stores only its SHA-256.',
  auth: 'session',
  status: 201,
  body: NewApiToken,
  response: CreatedApiToken,
  handler: ({ body }) => createToken(body.name, body.expires_at ?? null),
})

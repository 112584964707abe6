import { assertVerified } from '#server/accounts/second-factors/verified.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { givenAccess } from '#server/tokens/given-access.ts'
import { createToken } from '#server/tokens/operations.ts'
import { CreatedApiToken, NewApiToken } from '#server/tokens/schema.ts'

export default defineEndpoint({
  summary: 'Create an API token',
  description:
    'The token appears only in this answer; the server stores only its SHA-256. Without `access` it may do everything. Restricted to environments or services, it sees and changes only what is in them: lists and streams leave the rest out, and anything else is 404.',
  auth: 'session',
  least: 'full',
  status: 201,
  body: NewApiToken,
  response: CreatedApiToken,
  errors: ['not_found', 'second_factor_required'],
  handler({ principal, body }) {
    assertVerified(principal)
    return createToken(body.name, body.expires_at ?? null, givenAccess(body.access))
  },
})

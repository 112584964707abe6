import { registerPasskey } from '#server/accounts/second-factors/operations.ts'
import { NewPasskey, Passkey } from '#server/accounts/second-factors/schema.ts'
import { passkeySiteOf } from '#server/accounts/second-factors/site.ts'
import { assertVerified } from '#server/accounts/second-factors/verified.ts'
import { sessionOf } from '#server/http/auth.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Add a passkey',
  description:
    'Takes what the browser created with the options for `register`. From now on sign-in needs more than the password.',
  auth: 'session',
  least: 'full',
  status: 201,
  body: NewPasskey,
  response: Passkey,
  errors: ['invalid_credentials', 'conflict', 'second_factor_required', 'too_many_attempts'],
  handler({ event, principal, body }) {
    assertVerified(principal)
    return registerPasskey(body, sessionOf(principal), passkeySiteOf(event.node.req))
  },
})

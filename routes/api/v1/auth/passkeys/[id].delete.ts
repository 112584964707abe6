import { z } from 'zod'
import { removePasskey } from '#server/accounts/second-factors/operations.ts'
import { assertVerified } from '#server/accounts/second-factors/verified.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Remove a passkey',
  description:
    'When it was the last factor, the recovery codes end too and sign-in needs the password alone.',
  auth: 'session',
  least: 'full',
  params: z.object({ id: z.string().meta({ examples: ['psk-0123456789abcdef0123'] }) }),
  errors: ['not_found', 'second_factor_required'],
  handler({ principal, params }) {
    assertVerified(principal)
    removePasskey(params.id)
  },
})

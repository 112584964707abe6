import { replaceRecoveryCodes } from '#server/accounts/second-factors/operations.ts'
import { RecoveryCodes } from '#server/accounts/second-factors/schema.ts'
import { assertVerified } from '#server/accounts/second-factors/verified.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Replace the recovery codes',
  description: 'Returns ten new ones, once; the old ones end. Needs an authenticator app or a passkey.',
  auth: 'session',
  least: 'full',
  audit: 'account.recovery_codes_replaced',
  response: RecoveryCodes,
  errors: ['conflict', 'second_factor_required'],
  handler({ principal }) {
    assertVerified(principal)
    return replaceRecoveryCodes()
  },
})

import { CurrentPassword } from '#server/accounts/second-factors/schema.ts'
import { turnTotpOff } from '#server/accounts/second-factors/totp-setup.ts'
import { assertVerified } from '#server/accounts/second-factors/verified.ts'
import { sessionOf } from '#server/http/auth.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Turn the authenticator app off',
  description:
    'When it was the last factor, the recovery codes end too and sign-in needs the password alone.',
  auth: 'session',
  least: 'full',
  audit: 'account.authenticator_turned_off',
  body: CurrentPassword,
  errors: ['invalid_credentials', 'not_found', 'second_factor_required', 'too_many_attempts'],
  async handler({ principal, body }) {
    assertVerified(principal)
    await turnTotpOff(sessionOf(principal), body.current_password)
  },
})

import { RecoveryCodes, TotpConfirmation } from '#server/accounts/second-factors/schema.ts'
import { confirmTotp } from '#server/accounts/second-factors/totp-setup.ts'
import { assertVerified } from '#server/accounts/second-factors/verified.ts'
import { sessionOf } from '#server/http/auth.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Confirm an authenticator app',
  description:
    'From now on sign-in needs a code. Returns ten recovery codes, once; earlier ones end. Other sessions stay, ' +
    'unverified. A code of another time within 20 minutes is refused with the difference of the clocks.',
  auth: 'session',
  least: 'full',
  audit: 'account.authenticator_set_up',
  body: TotpConfirmation,
  response: RecoveryCodes,
  errors: ['invalid_credentials', 'conflict', 'second_factor_required'],
  handler({ principal, body }) {
    assertVerified(principal)
    return confirmTotp(sessionOf(principal), body.code)
  },
})

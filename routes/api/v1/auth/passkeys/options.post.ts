import { newPasskeyOptions } from '#server/accounts/second-factors/operations.ts'
import { signInOptions } from '#server/accounts/second-factors/passkeys.ts'
import { PasskeyOptions, PasskeyPurpose } from '#server/accounts/second-factors/schema.ts'
import { passkeySiteOf } from '#server/accounts/second-factors/site.ts'
import { assertVerified } from '#server/accounts/second-factors/verified.ts'
import { authenticate, sessionOf } from '#server/http/auth.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Get options for a passkey',
  description:
    'For `navigator.credentials`. The challenge holds once, for 5 minutes. A passkey belongs to exactly the host at which ' +
    "the dashboard is open; there are none at an IP address. `register` needs the dashboard's session.",
  auth: 'none',
  least: 'read',
  audit: false,
  refusesOtherOrigins: true,
  body: PasskeyPurpose,
  response: PasskeyOptions,
  errors: ['unauthorized', 'session_required', 'second_factor_required'],
  handler({ event, body }) {
    if (body.purpose === 'sign_in') return signInOptions(passkeySiteOf(event.node.req))
    const principal = authenticate(event, 'session')
    assertVerified(principal)
    return newPasskeyOptions(passkeySiteOf(event.node.req), sessionOf(principal))
  },
})

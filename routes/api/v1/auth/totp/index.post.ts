import { TotpSetup } from '#server/accounts/second-factors/schema.ts'
import { siteOf } from '#server/accounts/second-factors/site.ts'
import { beginTotp } from '#server/accounts/second-factors/totp-setup.ts'
import { assertVerified } from '#server/accounts/second-factors/verified.ts'
import { sessionOf } from '#server/http/auth.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Begin to set up an authenticator app',
  description:
    'Returns a new secret for the app (TOTP, RFC 6238: SHA-1, six digits, 30 seconds). It counts once a code confirms it; ' +
    'until then an app that was set up earlier does. A restart of the server forgets it.',
  auth: 'session',
  least: 'full',
  audit: false,
  response: TotpSetup,
  errors: ['second_factor_required'],
  handler({ event, principal }) {
    assertVerified(principal)
    return beginTotp(sessionOf(principal), siteOf(event.node.req)?.host ?? '')
  },
})

import { verifySession } from '#server/accounts/second-factors/operations.ts'
import { Verification } from '#server/accounts/second-factors/schema.ts'
import { passkeySiteOf } from '#server/accounts/second-factors/site.ts'
import { sessionOf } from '#server/http/auth.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Verify the session by a second factor',
  description:
    'Holds for 10 minutes. What would give a thief of the session something lasting needs it: creating tokens, approving ' +
    'terminals, changing second factors and downloading backups of the server. 10 wrong codes of a session in 5 minutes ' +
    'close it for a while.',
  auth: 'session',
  least: 'full',
  audit: 'account.session_verified',
  body: Verification,
  errors: ['invalid_credentials', 'conflict', 'too_many_attempts'],
  handler: ({ event, principal, body }) =>
    verifySession(body, sessionOf(principal), () => passkeySiteOf(event.node.req)),
})

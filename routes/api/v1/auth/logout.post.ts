import { endSession } from '#server/accounts/sessions.ts'
import { assertOwnOrigin, clearSessionCookie, cookieSession } from '#server/http/auth.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Sign out',
  description: "Ends the cookie's session and clears the cookie; succeeds without a session.",
  auth: 'none',
  audit: 'account.signed_out',
  least: 'read',
  errors: ['cross_site_request'],
  handler({ event }) {
    const session = cookieSession(event)
    if (session) {
      assertOwnOrigin(event)
      endSession(session.id)
    }
    clearSessionCookie(event)
  },
})

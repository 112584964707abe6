import { signIn, signInWithPasskey } from '#server/accounts/operations.ts'
import { AuthStatus, SignIn } from '#server/accounts/schema.ts'
import { passkeySiteOf, siteOf } from '#server/accounts/second-factors/site.ts'
import { authStatus, setSessionCookie } from '#server/http/auth.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Sign in',
  description:
    'Sets the session cookie. With a second factor, a right password without `code` is `second_factor_required`, whose ' +
    '`error.details.methods` lists what would do. A passkey signs in by itself. After 10 failures in 5 minutes, from any ' +
    'client, all sign-ins with the password are refused for a while; wrong codes count.',
  auth: 'none',
  audit: 'account.signed_in',
  least: 'read',
  body: SignIn,
  response: AuthStatus,
  errors: ['invalid_credentials', 'second_factor_required', 'too_many_attempts'],
  async handler({ event, body: { email, password, code, passkey } }) {
    const { req } = event.node
    const userAgent = req.headers['user-agent']
    const session = passkey
      ? await signInWithPasskey(passkey, userAgent, passkeySiteOf(req))
      : await signIn({ email: email!, password: password!, code }, userAgent, siteOf(req)?.host)
    setSessionCookie(event, session.secret)
    return authStatus({ kind: 'session', sessionId: session.id })
  },
})

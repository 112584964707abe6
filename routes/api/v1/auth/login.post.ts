import { signIn } from '#server/accounts/operations.ts'
import { AuthStatus, SignIn } from '#server/accounts/schema.ts'
import { authStatus, setSessionCookie } from '#server/http/auth.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Sign in',
  description:
    'Sets the session cookie. After 10 failures in 5 minutes, from any client, all sign-ins are refused for a while.',
  auth: 'none',
  body: SignIn,
  response: AuthStatus,
  errors: ['invalid_credentials', 'too_many_attempts'],
  async handler({ event, body }) {
    const session = await signIn(body, event.node.req.headers['user-agent'])
    setSessionCookie(event, session.secret)
    return authStatus({ kind: 'session', sessionId: session.id })
  },
})

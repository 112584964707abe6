import { setUp } from '#server/accounts/operations.ts'
import { AuthStatus, Setup } from '#server/accounts/schema.ts'
import { authStatus, setSessionCookie } from '#server/http/auth.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Create the administrator account',
  description:
    'Works once, with the setup code that the server prints. Signs the browser in and sets the session cookie.',
  auth: 'none',
  audit: 'account.created',
  least: 'read',
  body: Setup,
  response: AuthStatus,
  errors: ['invalid_credentials', 'conflict'],
  async handler({ event, body }) {
    const session = await setUp(body, event.node.req.headers['user-agent'])
    setSessionCookie(event, session.secret)
    return authStatus({ kind: 'session', sessionId: session.id })
  },
})

import { AuthStatus } from '#server/accounts/schema.ts'
import { authStatus, identify } from '#server/http/auth.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Read who is signed in',
  description: 'Wrong or expired credentials count as none.',
  auth: 'none',
  least: 'read',
  response: AuthStatus,
  handler: ({ event }) => authStatus(identify(event)),
})

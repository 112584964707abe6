import { z } from 'zod'
import { revokeSession } from '#server/accounts/sessions.ts'
import { clearSessionCookie, sessionOf } from '#server/http/auth.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'End a session',
  description: 'Ending the current session signs out.',
  auth: 'session',
  least: 'full',
  params: z.object({ id: z.string().meta({ examples: ['ses-0123456789abcdef0123'] }) }),
  errors: ['not_found'],
  handler({ event, principal, params }) {
    revokeSession(params.id)
    if (params.id === sessionOf(principal)) clearSessionCookie(event)
  },
})

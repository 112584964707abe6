import { z } from 'zod'
import { Session } from '#server/accounts/schema.ts'
import { listSessions } from '#server/accounts/sessions.ts'
import { sessionOf } from '#server/http/auth.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'List the browsers that are signed in',
  description: 'Last used first.',
  auth: 'session',
  least: 'full',
  response: z.array(Session),
  handler: ({ principal }) => listSessions(sessionOf(principal)),
})

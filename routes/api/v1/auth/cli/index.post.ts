import { startCliLogin } from '#server/cli-logins/operations.ts'
import { NewCliLogin, StartedCliLogin } from '#server/cli-logins/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Start the sign-in of a terminal',
  description:
    'The terminal shows the code and polls with the secret; the administrator approves in the dashboard.',
  auth: 'none',
  body: NewCliLogin,
  response: StartedCliLogin,
  errors: ['too_many_attempts'],
  handler: ({ body }) => startCliLogin(body.name),
})

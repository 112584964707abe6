import { z } from 'zod'
import { denyCliLogin } from '#server/cli-logins/operations.ts'
import { CliLogin } from '#server/cli-logins/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Deny a CLI login request',
  description: 'The terminal is notified at its next poll.',
  auth: 'session',
  audit: 'terminal.denied',
  least: 'full',
  params: z.object({ id: z.string().meta({ examples: ['cli-0123456789abcdef0123'] }) }),
  response: CliLogin,
  errors: ['not_found', 'conflict'],
  handler: ({ params }) => denyCliLogin(params.id),
})

import { z } from 'zod'
import { viewCliLogin } from '#server/cli-logins/operations.ts'
import { CliLogin } from '#server/cli-logins/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Read a CLI login request',
  description: 'Shows its name, its address and its time, to check before it is approved.',
  auth: 'session',
  least: 'full',
  params: z.object({ id: z.string().meta({ examples: ['cli-0123456789abcdef0123'] }) }),
  response: CliLogin,
  errors: ['not_found'],
  handler: ({ params }) => viewCliLogin(params.id),
})

import { z } from 'zod'
import { pollCliLogin } from '#server/cli-logins/operations.ts'
import { CliLoginPoll, CliLoginSecret } from '#server/cli-logins/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Ask whether a terminal is signed in',
  description: 'A final answer, yes or no, is given once; the request is deleted afterwards.',
  auth: 'none',
  audit: false,
  least: 'read',
  params: z.object({ id: z.string().meta({ examples: ['cli-0123456789abcdef0123'] }) }),
  body: CliLoginSecret,
  response: CliLoginPoll,
  errors: ['invalid_credentials', 'not_found'],
  handler: ({ params, body }) => pollCliLogin(params.id, body.secret),
})

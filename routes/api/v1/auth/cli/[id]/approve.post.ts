import { z } from 'zod'
import { assertVerified } from '#server/accounts/second-factors/verified.ts'
import { approveCliLogin } from '#server/cli-logins/operations.ts'
import { CliLogin, CliLoginApproval } from '#server/cli-logins/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Approve a CLI login request',
  description: 'Creates an API token named after the request; the terminal gets it at its next poll.',
  auth: 'session',
  audit: 'terminal.approved',
  least: 'full',
  params: z.object({ id: z.string().meta({ examples: ['cli-0123456789abcdef0123'] }) }),
  body: CliLoginApproval,
  response: CliLogin,
  errors: ['not_found', 'conflict', 'second_factor_required'],
  handler({ principal, params, body }) {
    assertVerified(principal)
    return approveCliLogin(params.id, body)
  },
})

import { viewSecondFactors } from '#server/accounts/second-factors/operations.ts'
import { SecondFactors } from '#server/accounts/second-factors/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Read the second factors',
  description: 'With an authenticator app or a passkey, sign-in needs more than the password.',
  auth: 'session',
  least: 'full',
  response: SecondFactors,
  handler: () => viewSecondFactors(),
})

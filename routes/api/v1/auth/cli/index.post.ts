import { clientAddress } from '#server/accounts/client-address.ts'
import { useContext } from '#server/context.ts'
import { startCliLogin } from '#server/cli-logins/operations.ts'
import { NewCliLogin, StartedCliLogin } from '#server/cli-logins/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Start the sign-in of a terminal',
  description:
    'The terminal shows the code and polls with the secret; the administrator types the code in the dashboard. ' +
    'When more than 10 requests from one address are waiting, the oldest is dropped.',
  auth: 'none',
  audit: false,
  least: 'read',
  body: NewCliLogin,
  response: StartedCliLogin,
  handler: ({ event, body }) =>
    startCliLogin(clientAddress(event.node.req, useContext().options.trustedProxies), body.name),
})

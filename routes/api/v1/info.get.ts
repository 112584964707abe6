import { serverInfo } from '#daemon/info.ts'
import { clientAddress } from '#server/accounts/client-address.ts'
import { useContext } from '#server/context.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { ServerInfo } from '#server/info.ts'

export default defineEndpoint({
  summary: 'Read what the server is and runs on',
  auth: 'token',
  least: 'read',
  within: 'service',
  response: ServerInfo,
  handler: ({ event }) => serverInfo(clientAddress(event.node.req, useContext().options.trustedProxies)),
})

import { findDatastore } from '#server/datastores/operations.ts'
import { openTunnel, TUNNEL } from '#server/datastores/tunnels.ts'
import { tokenOf } from '#server/http/auth.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { webSocketOf } from '#server/http/web-socket.ts'
import { IdOrName } from '#server/schema.ts'
import { tokenLabel } from '#server/tokens/operations.ts'

export default defineEndpoint({
  summary: 'Reach a datastore from another machine',
  description:
    'One WebSocket is one TCP connection. A text message closes with 1003, a message over 1 MiB with 1009. It closes with 1000 when the datastore ends the connection, with 1001 when that breaks or the server stops, and with 1008 when the datastore is deleted or the token ends.',
  auth: 'header_token',
  least: 'full',
  within: 'service',
  // A browser lets any page open a WebSocket to any server.
  refusesOtherOrigins: true,
  params: IdOrName,
  query: InEnvironment,
  response: TUNNEL,
  errors: ['conflict', 'runtime_error'],
  handler: ({ event, principal, params, query }) =>
    openTunnel(
      findDatastore(params.id, query.environment),
      webSocketOf(event, TUNNEL),
      tokenLabel(tokenOf(principal)),
    ),
})

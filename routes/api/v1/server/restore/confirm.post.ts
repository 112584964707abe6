import { defineEndpoint } from '#server/http/endpoint.ts'
import { confirmRestore } from '#server/restore/operations.ts'
import { ServerRestore } from '#server/restore/schema.ts'

export default defineEndpoint({
  summary: 'Confirm that the server from which this one was restored is gone',
  description:
    'Until then this server only looks: it starts, stops, sends and renews nothing, since two servers with the same data get in each other’s way. Then it goes to work, and brings back what the engine lacks.',
  auth: 'session',
  audit: 'server.restore_confirmed',
  least: 'full',
  response: ServerRestore,
  errors: ['conflict'],
  handler: () => confirmRestore(),
})

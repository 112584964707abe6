import { defineEndpoint } from '#server/http/endpoint.ts'
import { viewRestore } from '#server/restore/operations.ts'
import { ServerRestore } from '#server/restore/schema.ts'

export default defineEndpoint({
  summary: 'Read how the restore of the server goes',
  description: 'Null if the server was not restored from a backup.',
  auth: 'token',
  least: 'read',
  response: ServerRestore.nullable(),
  handler: () => viewRestore(),
})

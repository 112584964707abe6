import { z } from 'zod'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { ServerBackup } from '#server/server-backups/schema.ts'
import { listServerBackups } from '#server/server-backups/store.ts'
import { viewServerBackup } from '#server/server-backups/view.ts'

export default defineEndpoint({
  summary: 'List the backups of the server, newest first',
  auth: 'token',
  least: 'read',
  response: z.array(ServerBackup),
  handler: () => listServerBackups().map(viewServerBackup),
})

import { defineEndpoint } from '#server/http/endpoint.ts'
import { findServerBackup } from '#server/server-backups/operations.ts'
import { ServerBackup, ServerBackupPath } from '#server/server-backups/schema.ts'
import { viewServerBackup } from '#server/server-backups/view.ts'

export default defineEndpoint({
  summary: 'Read a backup of the server',
  auth: 'token',
  least: 'read',
  params: ServerBackupPath,
  response: ServerBackup,
  handler: ({ params }) => viewServerBackup(findServerBackup(params.id)),
})

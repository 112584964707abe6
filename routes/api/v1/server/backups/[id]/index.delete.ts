import { defineEndpoint } from '#server/http/endpoint.ts'
import { deleteServerBackup, findServerBackup } from '#server/server-backups/operations.ts'
import { ServerBackupPath } from '#server/server-backups/schema.ts'

export default defineEndpoint({
  summary: 'Delete a backup of the server, also from the bucket',
  auth: 'token',
  least: 'full',
  params: ServerBackupPath,
  errors: ['conflict'],
  handler: ({ params }) => deleteServerBackup(findServerBackup(params.id)),
})

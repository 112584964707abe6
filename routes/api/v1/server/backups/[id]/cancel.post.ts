import { defineEndpoint } from '#server/http/endpoint.ts'
import { cancelServerBackup, findServerBackup } from '#server/server-backups/operations.ts'
import { ServerBackup, ServerBackupPath } from '#server/server-backups/schema.ts'
import { viewServerBackup } from '#server/server-backups/view.ts'

export default defineEndpoint({
  summary: 'Cancel a backup of the server that is being made',
  description:
    'What there is of its file is removed. Backups of datastores and disks that were made for it stay.',
  auth: 'token',
  least: 'full',
  params: ServerBackupPath,
  response: ServerBackup,
  errors: ['conflict'],
  handler: ({ params }) => viewServerBackup(cancelServerBackup(findServerBackup(params.id))),
})

import { defineEndpoint } from '#server/http/endpoint.ts'
import { requestServerBackup } from '#server/server-backups/operations.ts'
import { ServerBackup, ServerBackupInput } from '#server/server-backups/schema.ts'
import { viewServerBackup } from '#server/server-backups/view.ts'

export default defineEndpoint({
  summary: 'Back the server up',
  description:
    'Settings, secrets, certificates, uploads, sites and logs, as they are at one moment, in one file; the server goes on. Backups of datastores and disks are made first. Only one runs at a time; those beyond `backup_retention` are removed, the oldest first.',
  auth: 'token',
  least: 'full',
  status: 202,
  body: ServerBackupInput,
  response: ServerBackup,
  errors: ['conflict'],
  handler: ({ body }) => viewServerBackup(requestServerBackup(body)),
})

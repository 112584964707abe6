import { deleteBackup, findBackup } from '#server/backups/operations.ts'
import { BackupPath } from '#server/backups/schema.ts'
import { findDatastore } from '#server/datastores/operations.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'

export default defineEndpoint({
  summary: 'Delete a backup',
  auth: 'token',
  least: 'full',
  within: 'service',
  params: BackupPath,
  query: InEnvironment,
  errors: ['conflict'],
  handler: ({ params, query }) =>
    deleteBackup(findBackup(findDatastore(params.id, query.environment), params.backup_id)),
})

import { findBackup } from '#server/backups/operations.ts'
import { Backup, BackupPath } from '#server/backups/schema.ts'
import { viewBackup } from '#server/backups/view.ts'
import { findDatastore } from '#server/datastores/operations.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'

export default defineEndpoint({
  summary: 'Read a backup',
  auth: 'token',
  least: 'read',
  within: 'service',
  params: BackupPath,
  query: InEnvironment,
  response: Backup,
  handler: ({ params, query }) =>
    viewBackup(findBackup(findDatastore(params.id, query.environment), params.backup_id)),
})

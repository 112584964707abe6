import { deleteBackup, findBackup } from '#server/backups/operations.ts'
import { DiskBackupPath } from '#server/disks/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { findService } from '#server/services/operations.ts'

export default defineEndpoint({
  summary: 'Delete a backup of a disk',
  auth: 'token',
  least: 'full',
  within: 'service',
  params: DiskBackupPath,
  query: InEnvironment,
  errors: ['conflict'],
  handler: ({ params, query }) =>
    deleteBackup(findBackup(findService(params.id, query.environment), params.backup_id)),
})

import { findBackup } from '#server/backups/operations.ts'
import { DiskBackup, DiskBackupPath } from '#server/disks/schema.ts'
import { viewDiskBackup } from '#server/disks/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { findService } from '#server/services/operations.ts'

export default defineEndpoint({
  summary: 'Read a backup of a disk',
  auth: 'token',
  least: 'read',
  within: 'service',
  params: DiskBackupPath,
  query: InEnvironment,
  response: DiskBackup,
  handler: ({ params, query }) =>
    viewDiskBackup(findBackup(findService(params.id, query.environment), params.backup_id)),
})

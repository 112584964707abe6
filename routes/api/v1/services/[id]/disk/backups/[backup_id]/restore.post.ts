import { findBackup } from '#server/backups/operations.ts'
import { restoreDisk, restoreTarget } from '#server/disks/restores.ts'
import { DiskBackupPath, DiskRestoreInput } from '#server/disks/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { findService } from '#server/services/operations.ts'
import { Service } from '#server/services/schema.ts'
import { viewService } from '#server/services/view.ts'

export default defineEndpoint({
  summary: 'Restore a backup of a disk',
  description:
    'Replaces the disk of its own service or, with `service`, of another one; `disk` names one of several. The backup is unpacked into a new volume next to the disk; then the program is stopped and started with the new volume, and the former one is kept for a day. `disk_restore` of the service that is returned says how it goes; if it fails, the service keeps its disk.',
  auth: 'token',
  least: 'full',
  within: 'service',
  status: 202,
  params: DiskBackupPath,
  query: InEnvironment,
  body: DiskRestoreInput,
  response: Service,
  errors: ['conflict'],
  handler({ params, query, body }) {
    const service = findService(params.id, query.environment)
    const backup = findBackup(service, params.backup_id)
    return viewService(restoreDisk(restoreTarget(service, body.service), backup, body.disk))
  },
})

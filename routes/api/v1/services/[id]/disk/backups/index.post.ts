import { requestDiskBackup } from '#server/disks/operations.ts'
import { DiskBackup, DiskBackupInput } from '#server/disks/schema.ts'
import { viewDiskBackup } from '#server/disks/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { findService } from '#server/services/operations.ts'

export default defineEndpoint({
  summary: "Back a service's disks up",
  description:
    'The backup is `running` until its file is complete. Only one of a disk runs at a time; backups beyond `disk_backup_retention` are removed, the oldest first. With `suspend` the program is stopped for the copy and started again afterwards.',
  auth: 'token',
  least: 'full',
  within: 'service',
  status: 202,
  params: IdOrName,
  query: InEnvironment,
  body: DiskBackupInput,
  response: DiskBackup,
  errors: ['conflict'],
  handler: ({ params, query, body }) =>
    viewDiskBackup(requestDiskBackup(findService(params.id, query.environment), body)),
})

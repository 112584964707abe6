import { downloadOf } from '#server/backups/download.ts'
import { findBackup } from '#server/backups/operations.ts'
import { DiskBackupPath } from '#server/disks/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { sendFile } from '#server/http/file.ts'
import { InEnvironment } from '#server/http/query.ts'
import { findService } from '#server/services/operations.ts'

export default defineEndpoint({
  summary: 'Download a backup of a disk',
  description:
    "A gzipped tar archive with a folder of the disk's name. Continue an interrupted download with `Range`; send its `ETag` as `If-Range`.",
  auth: 'token',
  audit: 'disk_backup.downloaded',
  least: 'read',
  within: 'service',
  params: DiskBackupPath,
  query: InEnvironment,
  response: { contentType: 'application/octet-stream', description: 'The file', ranges: true },
  errors: ['conflict', 'io_error'],
  async handler({ event, params, query }) {
    const service = findService(params.id, query.environment)
    await sendFile(event, downloadOf(findBackup(service, params.backup_id)))
  },
})

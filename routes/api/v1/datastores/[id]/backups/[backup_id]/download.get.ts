import { downloadOf } from '#server/backups/download.ts'
import { findBackup } from '#server/backups/operations.ts'
import { BackupPath } from '#server/backups/schema.ts'
import { findDatastore } from '#server/datastores/operations.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { sendFile } from '#server/http/file.ts'
import { InEnvironment } from '#server/http/query.ts'

export default defineEndpoint({
  summary: 'Download a backup',
  description:
    'A file for `pg_restore` from a relational datastore, an RDB file from a key-value store. Continue an interrupted download with ' +
    '`Range`; send its `ETag` as `If-Range`.',
  auth: 'token',
  audit: 'backup.downloaded',
  least: 'read',
  within: 'service',
  params: BackupPath,
  query: InEnvironment,
  response: { contentType: 'application/octet-stream', description: 'The file', ranges: true },
  errors: ['conflict', 'io_error'],
  async handler({ event, params, query }) {
    const datastore = findDatastore(params.id, query.environment)
    await sendFile(event, downloadOf(findBackup(datastore, params.backup_id)))
  },
})

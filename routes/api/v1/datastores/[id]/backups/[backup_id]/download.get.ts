import { openBackup } from '#server/backups/download.ts'
import { findBackup } from '#server/backups/operations.ts'
import { BackupPath } from '#server/backups/schema.ts'
import { findDatastore } from '#server/datastores/operations.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { sendFile } from '#server/http/file.ts'
import { InEnvironment } from '#server/http/query.ts'

export default defineEndpoint({
  summary: 'Download a backup',
  description: 'For `pg_restore` from a relational datastore; an RDB file from a key-value store.',
  auth: 'token',
  params: BackupPath,
  query: InEnvironment,
  response: { contentType: 'application/octet-stream', description: 'The file' },
  errors: ['conflict', 'io_error'],
  async handler({ event, params, query }) {
    const datastore = findDatastore(params.id, query.environment)
    await sendFile(event, await openBackup(datastore, findBackup(datastore, params.backup_id)))
  },
})

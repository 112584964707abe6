import { findBackup } from '#server/backups/operations.ts'
import { BackupPath, RestoreInput } from '#server/backups/schema.ts'
import { findDatastore } from '#server/datastores/operations.ts'
import { restoreBackup } from '#server/datastores/restores-and-upgrades.ts'
import { Datastore } from '#server/datastores/schema.ts'
import { viewDatastore } from '#server/datastores/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'

export default defineEndpoint({
  summary: 'Restore a backup',
  description:
    'With a `name`, restores into a new datastore, otherwise into its own: the current data stays in use until the backup is restored next to it, and is then replaced and kept for a day. Meanwhile the datastore is `restoring`; when the restore fails, only `error` changes.',
  auth: 'token',
  least: 'full',
  within: 'service',
  status: 202,
  params: BackupPath,
  query: InEnvironment,
  body: RestoreInput,
  response: Datastore,
  errors: ['conflict'],
  handler({ params, query, body }) {
    const datastore = findDatastore(params.id, query.environment)
    return viewDatastore(restoreBackup(datastore, findBackup(datastore, params.backup_id), body.name))
  },
})

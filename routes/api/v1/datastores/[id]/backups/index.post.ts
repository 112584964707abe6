import { requestBackup } from '#server/backups/operations.ts'
import { Backup } from '#server/backups/schema.ts'
import { viewBackup } from '#server/backups/view.ts'
import { findDatastore } from '#server/datastores/operations.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Back a datastore up',
  description:
    'The backup is `running` until its file is complete. Only one runs at a time; backups beyond `backup_retention` are removed, the oldest first.',
  auth: 'token',
  least: 'full',
  within: 'service',
  status: 202,
  params: IdOrName,
  query: InEnvironment,
  response: Backup,
  errors: ['conflict'],
  handler: ({ params, query }) => viewBackup(requestBackup(findDatastore(params.id, query.environment))),
})

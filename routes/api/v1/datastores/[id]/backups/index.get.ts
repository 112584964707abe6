import { z } from 'zod'
import { Backup } from '#server/backups/schema.ts'
import { listBackups } from '#server/backups/store.ts'
import { viewBackup } from '#server/backups/view.ts'
import { findDatastore } from '#server/datastores/operations.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'List the backups of a datastore, newest first',
  auth: 'token',
  least: 'read',
  within: 'service',
  params: IdOrName,
  query: InEnvironment,
  response: z.array(Backup),
  handler: ({ params, query }) => listBackups(findDatastore(params.id, query.environment).id).map(viewBackup),
})

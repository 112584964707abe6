import { z } from 'zod'
import { findDatastore } from '#server/datastores/operations.ts'
import { DatastoreReference } from '#server/datastores/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { referrersOf } from '#server/variables/store.ts'

export default defineEndpoint({
  summary: 'List the variables that refer to a datastore',
  description: 'Because of these it is not deleted without `force`.',
  auth: 'token',
  least: 'read',
  within: 'service',
  params: IdOrName,
  query: InEnvironment,
  response: z.array(DatastoreReference),
  handler({ params, query }) {
    const { environment_id, name } = findDatastore(params.id, query.environment)
    return referrersOf('datastore', environment_id, name)
  },
})

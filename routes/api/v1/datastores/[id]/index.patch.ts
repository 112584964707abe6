import { findDatastore, patchDatastore } from '#server/datastores/operations.ts'
import { Datastore, DatastorePatch } from '#server/datastores/schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { appliedDatastore } from '#daemon/work/settled.ts'

export default defineEndpoint({
  summary: 'Change the limits of a datastore',
  description:
    'Applied to the running container in place, without a restart. A memory limit below what it uses now can fail, or get it killed. A datastore that could not be created or started is tried again at once, even when nothing is changed.',
  auth: 'token',
  least: 'full',
  within: 'service',
  params: IdOrName,
  query: InEnvironment,
  body: DatastorePatch,
  response: Datastore,
  errors: ['conflict', 'runtime_error'],
  handler: ({ params, query, body }) =>
    appliedDatastore(patchDatastore(findDatastore(params.id, query.environment), body)),
})

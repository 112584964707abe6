import { findDatastore } from '#server/datastores/operations.ts'
import { Datastore } from '#server/datastores/schema.ts'
import { viewDatastore } from '#server/datastores/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Read a datastore with its credentials',
  auth: 'token',
  audit: 'datastore.credentials_read',
  least: 'read',
  within: 'service',
  params: IdOrName,
  query: InEnvironment,
  response: Datastore,
  handler: ({ params, query }) => viewDatastore(findDatastore(params.id, query.environment)),
})

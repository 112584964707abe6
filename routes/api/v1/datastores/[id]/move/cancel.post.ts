import { findDatastore } from '#server/datastores/operations.ts'
import { Datastore } from '#server/datastores/schema.ts'
import { viewDatastore } from '#server/datastores/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { cancelDatastoreMove } from '#server/moves/datastores.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Cancel the move of a datastore',
  description: 'The datastore runs on where it was. A move that has succeeded is undone by another one.',
  auth: 'token',
  least: 'full',
  within: 'service',
  params: IdOrName,
  query: InEnvironment,
  response: Datastore,
  audit: 'datastore.move_canceled',
  errors: ['conflict'],
  handler: ({ params, query }) =>
    viewDatastore(cancelDatastoreMove(findDatastore(params.id, query.environment))),
})

import { findDatastore } from '#server/datastores/operations.ts'
import { Datastore } from '#server/datastores/schema.ts'
import { viewDatastore } from '#server/datastores/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { moveDatastore } from '#server/moves/datastores.ts'
import { MoveInput } from '#server/moves/schema.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Move a datastore to another node',
  description:
    'It is `restoring` and does not answer while its data is copied; then it runs on the other node with the same content and password, and the former volume is kept for a day. With `from_backup` its newest backup is restored there instead, for a node that is lost. `move` of the datastore that is returned says how it goes; if it fails, the datastore runs on where it was.',
  auth: 'token',
  least: 'full',
  within: 'service',
  status: 202,
  params: IdOrName,
  query: InEnvironment,
  body: MoveInput,
  response: Datastore,
  errors: ['conflict'],
  handler: ({ params, query, body }) =>
    viewDatastore(moveDatastore(findDatastore(params.id, query.environment), body)),
})

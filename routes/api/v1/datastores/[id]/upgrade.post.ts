import { findDatastore } from '#server/datastores/operations.ts'
import { upgradeDatastore } from '#server/datastores/restores-and-upgrades.ts'
import { Datastore, UpgradeInput } from '#server/datastores/schema.ts'
import { viewDatastore } from '#server/datastores/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Take a datastore to a newer major version',
  description:
    'It is `upgrading`, and takes no writes, while a backup of it is restored into the new version beside the old. Then it is `available` with the new version, and what it held is kept for a day; or it is as before, and `error` says why.',
  auth: 'token',
  status: 202,
  params: IdOrName,
  query: InEnvironment,
  body: UpgradeInput,
  response: Datastore,
  errors: ['conflict'],
  handler: ({ params, query, body }) =>
    viewDatastore(upgradeDatastore(findDatastore(params.id, query.environment), body.version)),
})

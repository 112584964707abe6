import { findDatastore } from '#server/datastores/operations.ts'
import { upgradeDatastore } from '#server/datastores/restores-and-upgrades.ts'
import { Datastore, UpgradeInput } from '#server/datastores/schema.ts'
import { viewDatastore } from '#server/datastores/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Upgrade a datastore to a newer major version',
  description:
    'It is `upgrading` and read-only while a backup of it is restored into the new version next to the old one. Then it is `available` with the new version, and the old data is kept for a day; or it is as before, and `error` says why.',
  auth: 'token',
  least: 'full',
  within: 'service',
  status: 202,
  params: IdOrName,
  query: InEnvironment,
  body: UpgradeInput,
  response: Datastore,
  errors: ['conflict'],
  handler: ({ params, query, body }) =>
    viewDatastore(upgradeDatastore(findDatastore(params.id, query.environment), body.version)),
})

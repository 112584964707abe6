import { z } from 'zod'
import { Datastore } from '#server/datastores/schema.ts'
import { viewDatastores } from '#server/datastores/view.ts'
import { findEnvironment } from '#server/environments/store.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'

export default defineEndpoint({
  summary: 'List the datastores of an environment',
  auth: 'token',
  audit: 'datastore.credentials_read',
  least: 'read',
  within: 'service',
  query: InEnvironment,
  response: z.array(Datastore),
  errors: ['not_found'],
  handler: ({ query }) => viewDatastores(findEnvironment(query.environment)),
})

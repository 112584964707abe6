import { Environment } from '#server/environments/schema.ts'
import { findEnvironment } from '#server/environments/store.ts'
import { viewEnvironment } from '#server/environments/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Read an environment',
  auth: 'token',
  least: 'read',
  within: 'service',
  params: IdOrName,
  response: Environment,
  handler: ({ params }) => viewEnvironment(findEnvironment(params.id)),
})

import { z } from 'zod'
import { deploysOf } from '#server/deploys/operations.ts'
import { Deploy } from '#server/deploys/schema.ts'
import { viewDeploy } from '#server/deploys/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment, ListLimit } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { findService } from '#server/services/operations.ts'

export default defineEndpoint({
  summary: 'List the deploys of a service, newest first',
  auth: 'token',
  least: 'read',
  within: 'service',
  params: IdOrName,
  query: z.strictObject({ ...InEnvironment.shape, limit: ListLimit }),
  response: z.array(Deploy),
  handler: ({ params, query }) =>
    deploysOf(findService(params.id, query.environment), query.limit).map(viewDeploy),
})

import { Comparison } from '#server/deploys/comparison-schema.ts'
import { viewUnlive } from '#server/deploys/comparison.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { findService } from '#server/services/operations.ts'

export default defineEndpoint({
  summary: 'Compare what is saved of a service with what is live',
  description:
    'What the next deploy of the source would change besides its version: settings, variables, env groups and secret files. What holds at once is not in it. Values of variables are never shown.',
  auth: 'token',
  least: 'read',
  within: 'service',
  params: IdOrName,
  query: InEnvironment,
  response: Comparison,
  handler: ({ params, query }) => viewUnlive(findService(params.id, query.environment)),
})

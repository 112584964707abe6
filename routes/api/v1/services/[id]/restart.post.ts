import { queueRestart } from '#server/deploys/operations.ts'
import { Deploy } from '#server/deploys/schema.ts'
import { viewDeploy } from '#server/deploys/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { findService } from '#server/services/operations.ts'

export default defineEndpoint({
  summary: 'Restart a service',
  description:
    'Queues a deploy of the live image with the current settings and variables. New instances take over from the old ones, as in any deploy.',
  auth: 'token',
  least: 'deploy',
  within: 'service',
  status: 202,
  params: IdOrName,
  query: InEnvironment,
  response: Deploy,
  errors: ['conflict'],
  handler: ({ params, query }) => viewDeploy(queueRestart(findService(params.id, query.environment))),
})

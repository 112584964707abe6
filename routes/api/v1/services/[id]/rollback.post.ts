import { queueRollback } from '#server/deploys/operations.ts'
import { Deploy, RollbackInput } from '#server/deploys/schema.ts'
import { viewDeploy } from '#server/deploys/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { findService } from '#server/services/operations.ts'

export default defineEndpoint({
  summary: 'Return to an earlier deploy, without a build',
  description:
    'Queues a deploy of its image, with the settings and variables that it had. The last five deploys that were live can be returned to.',
  auth: 'token',
  least: 'deploy',
  within: 'service',
  status: 202,
  params: IdOrName,
  query: InEnvironment,
  body: RollbackInput,
  response: Deploy,
  errors: ['conflict'],
  handler: ({ params, query, body }) =>
    viewDeploy(queueRollback(findService(params.id, query.environment), body.deploy_id)),
})

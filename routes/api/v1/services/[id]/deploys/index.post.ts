import { queueSourceDeploy } from '#server/deploys/operations.ts'
import { Deploy, DeployInput } from '#server/deploys/schema.ts'
import { viewDeploy } from '#server/deploys/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { findService } from '#server/services/operations.ts'

export default defineEndpoint({
  summary: 'Deploy the configured source',
  description: 'The head of the branch or a commit, the image, or the newest uploaded archive.',
  auth: 'token',
  status: 202,
  params: IdOrName,
  query: InEnvironment,
  body: DeployInput,
  response: Deploy,
  errors: ['conflict'],
  handler({ params, query, body }) {
    const service = findService(params.id, query.environment)
    return viewDeploy(
      queueSourceDeploy(service, 'manual', { commit: body.commit, clearCache: body.clear_cache }),
    )
  },
})

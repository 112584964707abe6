import { deployArchive } from '#server/deploys/archive.ts'
import { queueSourceDeploy } from '#server/deploys/operations.ts'
import { Deploy, DeployInput } from '#server/deploys/schema.ts'
import { viewDeploy } from '#server/deploys/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { writeSample } from '#server/samples/archive.ts'
import { assertRuns } from '#server/samples/catalog.ts'
import { IdOrName } from '#server/schema.ts'
import { findService } from '#server/services/operations.ts'

export default defineEndpoint({
  summary: 'Deploy the configured source',
  description:
    'The head of the branch or a commit, the image, or the newest uploaded archive. With `sample`, a sample of the server, which then is the newest archive.',
  auth: 'token',
  least: 'deploy',
  within: 'service',
  status: 202,
  params: IdOrName,
  query: InEnvironment,
  body: DeployInput,
  response: Deploy,
  errors: ['conflict'],
  async handler({ params, query, body: { sample, commit, clear_cache: clearCache } }) {
    const service = findService(params.id, query.environment)
    if (sample === undefined) return viewDeploy(queueSourceDeploy(service, 'manual', { commit, clearCache }))
    assertRuns(sample, service)
    return viewDeploy(await deployArchive(service, (path) => writeSample(sample, path), clearCache))
  },
})

import { deployArchive } from '#server/deploys/archive.ts'
import { receiveArchive } from '#daemon/sources/archive.ts'
import { UPLOAD_LIMIT_BYTES } from '#server/deploys/folders.ts'
import { Deploy, UploadQuery } from '#server/deploys/schema.ts'
import { viewDeploy } from '#server/deploys/view.ts'
import { receiveStream } from '#server/http/body.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { IdOrName } from '#server/schema.ts'
import { findService } from '#server/services/operations.ts'

export default defineEndpoint({
  summary: 'Deploy an uploaded source archive',
  description:
    'For a service without a repository or an image. The root of the archive is the source tree; a single top-level folder is skipped.',
  auth: 'token',
  audit: 'deploy.created',
  least: 'deploy',
  within: 'service',
  status: 202,
  params: IdOrName,
  query: UploadQuery,
  body: {
    contentType: 'application/gzip',
    description: 'A .tar.gz of the source tree, at most 512 MiB',
    limitBytes: UPLOAD_LIMIT_BYTES,
  },
  response: Deploy,
  errors: ['conflict', 'payload_too_large'],
  async handler({ event, params, query }) {
    const service = findService(params.id, query.environment)
    const receive = (path: string) => {
      const body = receiveStream(event, UPLOAD_LIMIT_BYTES)
      return receiveArchive(body, path, UPLOAD_LIMIT_BYTES).finally(() => body.destroy())
    }
    return viewDeploy(await deployArchive(service, receive, query.clear_cache))
  },
})

import { rm } from 'node:fs/promises'
import { archivePath, UPLOAD_LIMIT_BYTES } from '#server/deploys/folders.ts'
import { receiveArchive } from '#daemon/sources/archive.ts'
import { assertUploadable, queueUpload } from '#server/deploys/operations.ts'
import { Deploy, UploadQuery } from '#server/deploys/schema.ts'
import { viewDeploy } from '#server/deploys/view.ts'
import { receiveStream } from '#server/http/body.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { newId } from '#server/ids.ts'
import { IdOrName } from '#server/schema.ts'
import { findService } from '#server/services/operations.ts'

export default defineEndpoint({
  summary: 'Deploy an uploaded source archive',
  description:
    'For a service without a repository or an image. The root of the archive is the source tree; a single top-level folder is skipped.',
  auth: 'token',
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
    assertUploadable(service)
    const id = newId('deploy')
    const body = receiveStream(event, UPLOAD_LIMIT_BYTES)
    await receiveArchive(body, archivePath(id), UPLOAD_LIMIT_BYTES).finally(() => body.destroy())
    try {
      return viewDeploy(queueUpload(findService(service.id), id, query.clear_cache))
    } catch (error) {
      // The service may have been deleted, suspended or given another source during the upload.
      await rm(archivePath(id), { force: true })
      throw error
    }
  },
})

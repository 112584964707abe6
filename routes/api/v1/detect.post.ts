import type { Readable } from 'node:stream'
import { detectArchive, detectRepository } from '#daemon/builds/detection.ts'
import { UPLOAD_LIMIT_BYTES } from '#server/deploys/folders.ts'
import { DetectInput, Detection, DetectQuery, type DetectHints } from '#server/detection/schema.ts'
import { AppError } from '#server/errors.ts'
import { firstByte, gatherJson, readJson, receiveStream } from '#server/http/body.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { onClientDisconnect } from '#server/http/client-disconnect.ts'
import { validate } from '#server/http/validate.ts'

export default defineEndpoint({
  summary: 'Find out what a deploy of a source would do',
  description:
    'Takes a repository as JSON, or an archive as the body with its hints in the query. Returns what would be built and started, from the files alone, by the function that deploys use; nothing is built or saved.',
  auth: 'token',
  audit: false,
  least: 'full',
  query: DetectQuery,
  body: {
    contentType: 'application/gzip',
    description: 'A .tar.gz of a source tree, at most 512 MiB; or a repository, as JSON',
    json: DetectInput,
    limitBytes: UPLOAD_LIMIT_BYTES,
  },
  response: Detection,
  errors: ['git_remote_unreachable', 'git_authorization_rejected', 'git_provider_unavailable'],
  async handler({ event, query }) {
    const left = onClientDisconnect(event)
    const type = event.node.req.headers['content-type']
    if (type !== undefined && !isBytes(type)) {
      assertNoHints(query)
      return await detectRepository(validate(DetectInput, await readJson(event)), left)
    }
    const body = receiveStream(event, UPLOAD_LIMIT_BYTES)
    try {
      if (type !== undefined || (await isGzip(body))) return await detectArchive(body, query, left)
      assertNoHints(query)
      return await detectRepository(validate(DetectInput, await gatherJson(body)), left)
    } finally {
      body.destroy()
    }
  },
})

function isBytes(contentType: string): boolean {
  return /^application\/(x-)?(gzip|octet-stream)\b/i.test(contentType)
}

/** Whether it is a gzip file, by the first byte of its magic number (RFC 1952 section 2.3.1), with which no JSON begins. */
async function isGzip(body: Readable): Promise<boolean> {
  return (await firstByte(body)) === 0x1f
}

function assertNoHints(query: DetectHints): void {
  const [hint] = Object.keys(query)
  if (hint !== undefined)
    throw new AppError('invalid_request', `${hint}: belongs in the body when that is JSON`)
}

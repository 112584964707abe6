import { setResponseHeaders } from 'h3'
import { z } from 'zod'
import { AppError } from '#server/errors.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { ConstantText } from '#server/http/send.ts'
import { DOCS_HEADERS, DOCS_SCRIPT } from '#server/openapi/page.ts'

const JAVASCRIPT = 'text/javascript; charset=utf-8'
const CSS = 'text/css; charset=utf-8'

/** Swagger UI is large, so it is loaded only when someone opens it. */
const FILES = new Map<string, () => Promise<ConstantText>>([
  ['start.js', once(() => Promise.resolve(DOCS_SCRIPT), JAVASCRIPT)],
  [
    'swagger-ui-bundle.js',
    once(
      async () => (await import('raw:../../../node_modules/swagger-ui-dist/swagger-ui-bundle.js')).default,
      JAVASCRIPT,
    ),
  ],
  [
    'swagger-ui.css',
    once(async () => (await import('raw:../../../node_modules/swagger-ui-dist/swagger-ui.css')).default, CSS),
  ],
])

export default defineEndpoint({
  summary: 'Read a file of the interactive page',
  auth: 'none',
  least: 'read',
  params: z.strictObject({ file: z.string() }),
  response: { contentType: 'text/javascript', description: 'The file' },
  async handler({ event, params }) {
    const file = FILES.get(params.file)
    if (!file) throw new AppError('not_found', `the page of the API has no file ${params.file}`)
    const text = await file()
    setResponseHeaders(event, DOCS_HEADERS)
    await text.send(event)
  },
})

function once(read: () => Promise<string>, type: string): () => Promise<ConstantText> {
  let made: Promise<ConstantText> | undefined
  return () => (made ??= read().then((text) => new ConstantText(text, type)))
}

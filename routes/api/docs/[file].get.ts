import { send, setResponseHeaders } from 'h3'
import { z } from 'zod'
import { AppError } from '#server/errors.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { DOCS_HEADERS, DOCS_SCRIPT } from '#server/openapi/page.ts'

const JAVASCRIPT = 'text/javascript; charset=utf-8'

interface File {
  type: string
  /** Swagger UI is large, so it is loaded when someone looks at it. */
  read(): Promise<string>
}

const FILES = new Map<string, File>([
  ['start.js', { type: JAVASCRIPT, read: () => Promise.resolve(DOCS_SCRIPT) }],
  [
    'swagger-ui-bundle.js',
    {
      type: JAVASCRIPT,
      read: async () =>
        (await import('raw:../../../node_modules/swagger-ui-dist/swagger-ui-bundle.js')).default,
    },
  ],
  [
    'swagger-ui.css',
    {
      type: 'text/css; charset=utf-8',
      read: async () => (await import('raw:../../../node_modules/swagger-ui-dist/swagger-ui.css')).default,
    },
  ],
])

export default defineEndpoint({
  summary: 'Read a file of the interactive page',
  auth: 'none',
  params: z.strictObject({ file: z.string() }),
  response: { contentType: 'text/javascript', description: 'The file' },
  async handler({ event, params }) {
    const file = FILES.get(params.file)
    if (!file) throw new AppError('not_found', `the page of the API has no file ${params.file}`)
    const text = await file.read()
    setResponseHeaders(event, DOCS_HEADERS)
    await send(event, text, file.type)
  },
})

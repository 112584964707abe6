import { setResponseHeaders } from 'h3'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { ConstantText } from '#server/http/send.ts'
import { DOCS_HEADERS, DOCS_PAGE } from '#server/openapi/page.ts'

const page = new ConstantText(DOCS_PAGE, 'text/html; charset=utf-8')

export default defineEndpoint({
  summary: 'Read and try the API in a browser',
  auth: 'none',
  least: 'read',
  response: { contentType: 'text/html', description: 'The interactive page of the API' },
  async handler({ event }) {
    setResponseHeaders(event, DOCS_HEADERS)
    await page.send(event)
  },
})

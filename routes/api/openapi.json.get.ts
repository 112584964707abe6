import { z } from 'zod'
import { useContext } from '#server/context.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { buildOpenApi } from '#server/openapi/document.ts'

const OpenApiDocument = z
  .looseObject({ openapi: z.string().meta({ examples: ['3.1.0'] }) })
  .meta({ id: 'OpenApiDocument', description: 'An OpenAPI 3.1 document' })

export default defineEndpoint({
  summary: 'Read this document',
  auth: 'none',
  least: 'read',
  response: OpenApiDocument,
  // Cached, because anyone may request it any number of times.
  keptFrom: 'program',
  async handler() {
    // The list contains this file, so it can be imported only once everything is loaded.
    const { endpoints } = await import('#endpoints')
    return OpenApiDocument.parse(buildOpenApi(endpoints, { version: useContext().version }))
  },
})

import { z } from 'zod'
import { useContext } from '#server/context.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { buildOpenApi } from '#server/openapi/document.ts'
import type { Json } from '#server/openapi/schemas.ts'

const OpenApiDocument = z
  .looseObject({ openapi: z.string().meta({ examples: ['3.1.0'] }) })
  .meta({ id: 'OpenApiDocument', description: 'An OpenAPI 3.1 document' })

let document: Promise<Json> | undefined

export default defineEndpoint({
  summary: 'Read this document',
  auth: 'none',
  response: OpenApiDocument,
  async handler() {
    document ??= describeApi()
    return OpenApiDocument.parse(await document)
  },
})

/** The list of endpoints has this file in it, so it is imported only when everything is loaded. */
async function describeApi(): Promise<Json> {
  const { endpoints } = await import('#endpoints')
  return buildOpenApi(endpoints, { version: useContext().version })
}

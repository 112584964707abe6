import { z } from 'zod'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { findService } from '#server/services/operations.ts'
import { ShownEnvVar } from '#server/variables/schema.ts'
import { readVariables } from '#server/variables/store.ts'

export default defineEndpoint({
  summary: "Read a service's own variables",
  auth: 'token',
  audit: 'service.variables_read',
  least: 'read',
  within: 'service',
  params: IdOrName,
  query: InEnvironment,
  response: z.array(ShownEnvVar),
  handler: ({ params, query }) => readVariables(findService(params.id, query.environment).id),
})

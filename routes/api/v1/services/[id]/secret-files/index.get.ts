import { z } from 'zod'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { SecretFile } from '#server/secret-files/schema.ts'
import { viewSecretFiles } from '#server/secret-files/view.ts'
import { findService } from '#server/services/operations.ts'

export default defineEndpoint({
  summary: "List a service's own secret files",
  description: 'Without their contents, by name.',
  auth: 'token',
  least: 'read',
  within: 'service',
  params: IdOrName,
  query: InEnvironment,
  response: z.array(SecretFile),
  handler: ({ params, query }) => viewSecretFiles(findService(params.id, query.environment).id),
})

import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { findSecretFile } from '#server/secret-files/operations.ts'
import { SecretFileContent, SecretFileRef } from '#server/secret-files/schema.ts'
import { viewSecretFileContent } from '#server/secret-files/view.ts'
import { findService } from '#server/services/operations.ts'

export default defineEndpoint({
  summary: "Read a service's secret file",
  auth: 'token',
  audit: 'service.secret_file_read',
  least: 'read',
  within: 'service',
  params: SecretFileRef,
  query: InEnvironment,
  response: SecretFileContent,
  handler: ({ params, query }) =>
    viewSecretFileContent(findSecretFile(findService(params.id, query.environment), params.name)),
})

import { findEnvGroup } from '#server/env-groups/store.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { findSecretFile } from '#server/secret-files/operations.ts'
import { SecretFileContent, SecretFileRef } from '#server/secret-files/schema.ts'
import { viewSecretFileContent } from '#server/secret-files/view.ts'

export default defineEndpoint({
  summary: "Read an env group's secret file",
  auth: 'token',
  audit: 'env_group.secret_file_read',
  least: 'read',
  within: 'service',
  params: SecretFileRef,
  response: SecretFileContent,
  handler: ({ params }) => viewSecretFileContent(findSecretFile(findEnvGroup(params.id), params.name)),
})

import { z } from 'zod'
import { findEnvGroup } from '#server/env-groups/store.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { IdOrName } from '#server/schema.ts'
import { SecretFile } from '#server/secret-files/schema.ts'
import { viewSecretFiles } from '#server/secret-files/view.ts'

export default defineEndpoint({
  summary: "List an env group's secret files",
  description: 'Without their contents, by name.',
  auth: 'token',
  least: 'read',
  within: 'service',
  params: IdOrName,
  response: z.array(SecretFile),
  handler: ({ params }) => viewSecretFiles(findEnvGroup(params.id).id),
})

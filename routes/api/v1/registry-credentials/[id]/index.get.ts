import { defineEndpoint } from '#server/http/endpoint.ts'
import { viewRegistryCredential } from '#server/registry-credentials/operations.ts'
import { RegistryCredential } from '#server/registry-credentials/schema.ts'
import { findRegistryCredential } from '#server/registry-credentials/store.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Read a registry credential, without its password',
  auth: 'token',
  least: 'read',
  params: IdOrName,
  response: RegistryCredential,
  handler: ({ params }) => viewRegistryCredential(findRegistryCredential(params.id)),
})

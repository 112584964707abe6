import { defineEndpoint } from '#server/http/endpoint.ts'
import { deleteRegistryCredential } from '#server/registry-credentials/operations.ts'
import { RegistryCredentialDeletion } from '#server/registry-credentials/schema.ts'
import { findRegistryCredential } from '#server/registry-credentials/store.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Delete a registry credential',
  description:
    'Without `force`, refused while services name it. Their images are then pulled by host and path.',
  auth: 'token',
  least: 'full',
  params: IdOrName,
  query: RegistryCredentialDeletion,
  errors: ['conflict'],
  handler: ({ params, query }) => deleteRegistryCredential(findRegistryCredential(params.id), query.force),
})

import { defineEndpoint } from '#server/http/endpoint.ts'
import { patchRegistryCredential, viewRegistryCredential } from '#server/registry-credentials/operations.ts'
import { RegistryCredential, RegistryCredentialPatch } from '#server/registry-credentials/schema.ts'
import { findRegistryCredential } from '#server/registry-credentials/store.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Change a registry credential',
  description: 'An absent password stays as it is; another host needs it again.',
  auth: 'token',
  least: 'full',
  params: IdOrName,
  body: RegistryCredentialPatch,
  response: RegistryCredential,
  errors: ['conflict'],
  handler: ({ params, body }) =>
    viewRegistryCredential(patchRegistryCredential(findRegistryCredential(params.id), body)),
})

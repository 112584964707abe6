import { defineEndpoint } from '#server/http/endpoint.ts'
import { createRegistryCredential, viewRegistryCredential } from '#server/registry-credentials/operations.ts'
import { RegistryCredential, RegistryCredentialInput } from '#server/registry-credentials/schema.ts'

export default defineEndpoint({
  summary: 'Store the credentials of a registry',
  description:
    'Images and base images of builds are pulled with the credential that the service names, else the one whose host and longest `path_prefix` match, else as the engine is set up (`docker login`). It is used from the next pull on.',
  auth: 'token',
  least: 'full',
  status: 201,
  body: RegistryCredentialInput,
  response: RegistryCredential,
  errors: ['conflict'],
  handler: ({ body }) => viewRegistryCredential(createRegistryCredential(body)),
})

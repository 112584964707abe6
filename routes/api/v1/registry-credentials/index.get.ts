import { z } from 'zod'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { viewRegistryCredential } from '#server/registry-credentials/operations.ts'
import { RegistryCredential } from '#server/registry-credentials/schema.ts'
import { listRegistryCredentials } from '#server/registry-credentials/store.ts'

export default defineEndpoint({
  summary: 'List the registry credentials by name',
  auth: 'token',
  least: 'read',
  response: z.array(RegistryCredential),
  handler: () => listRegistryCredentials().map(viewRegistryCredential),
})

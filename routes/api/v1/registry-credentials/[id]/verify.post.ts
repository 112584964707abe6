import { defineEndpoint } from '#server/http/endpoint.ts'
import { leftSignal } from '#server/http/event-stream.ts'
import { RegistryVerification } from '#server/registry-credentials/schema.ts'
import { findRegistryCredential } from '#server/registry-credentials/store.ts'
import { verifyCredential } from '#server/registry-credentials/verification.ts'
import { assertUnfenced } from '#server/restore/fence.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Sign in at the registry to see whether it accepts a credential',
  auth: 'token',
  least: 'full',
  params: IdOrName,
  response: RegistryVerification,
  errors: ['conflict'],
  handler({ event, params }) {
    const credential = findRegistryCredential(params.id)
    assertUnfenced()
    return verifyCredential(credential, leftSignal(event))
  },
})

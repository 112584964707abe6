import { defineEndpoint } from '#server/http/endpoint.ts'
import { putSecretFile } from '#server/secret-files/operations.ts'
import { SecretFile, SecretFileInput, SecretFileRef, ServiceFileQuery } from '#server/secret-files/schema.ts'
import { viewSecretFile } from '#server/secret-files/view.ts'
import { findService } from '#server/services/operations.ts'
import { restartChanged } from '#server/services/restart.ts'

export default defineEndpoint({
  summary: 'Give a service a secret file, or replace it',
  description:
    'Checked together with those of the linked groups. Containers get it at the next deploy or restart; `restart` queues one if this changed something for them.',
  auth: 'token',
  least: 'full',
  within: 'service',
  params: SecretFileRef,
  query: ServiceFileQuery,
  body: SecretFileInput,
  response: SecretFile,
  errors: ['conflict'],
  handler({ params, query, body }) {
    const service = findService(params.id, query.environment)
    const change = () => putSecretFile(service, params.name, body)
    return viewSecretFile(restartChanged(query.restart, [service.environment_id], change))
  },
})

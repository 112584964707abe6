import { defineEndpoint } from '#server/http/endpoint.ts'
import { deleteSecretFile } from '#server/secret-files/operations.ts'
import { SecretFileRef, ServiceFileQuery } from '#server/secret-files/schema.ts'
import { findService } from '#server/services/operations.ts'
import { restartChanged } from '#server/services/restart.ts'

export default defineEndpoint({
  summary: "Delete a service's secret file",
  description: 'Containers keep it until the next deploy or restart; `restart` queues one.',
  auth: 'token',
  least: 'full',
  within: 'service',
  params: SecretFileRef,
  query: ServiceFileQuery,
  errors: ['conflict'],
  handler({ params, query }) {
    const service = findService(params.id, query.environment)
    restartChanged(query.restart, [service.environment_id], () => deleteSecretFile(service, params.name))
  },
})

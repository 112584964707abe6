import { removeNetwork } from '#daemon/environments/provide.ts'
import { useWorld } from '#daemon/index.ts'
import { deleteEnvironment } from '#server/environments/operations.ts'
import { findEnvironment } from '#server/environments/store.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Delete an environment with its private network',
  description: 'Refused while it contains services or datastores, and always for production.',
  auth: 'token',
  least: 'full',
  within: 'environment',
  params: IdOrName,
  errors: ['conflict'],
  async handler({ params }) {
    const environment = findEnvironment(params.id)
    deleteEnvironment(environment)
    await removeNetwork(useWorld(), environment)
  },
})

import { z } from 'zod'
import { removed } from '#daemon/work/settled.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment, QueryBoolean } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { deleteService, findService } from '#server/services/operations.ts'

export default defineEndpoint({
  summary: 'Delete a service with its containers, deploys and variables',
  description: "Without `force`, refused while other services' variables refer to it.",
  auth: 'token',
  least: 'full',
  within: 'service',
  params: IdOrName,
  query: z.strictObject({ ...InEnvironment.shape, force: QueryBoolean }),
  errors: ['conflict', 'runtime_error'],
  async handler({ params, query }) {
    const service = findService(params.id, query.environment)
    deleteService(service, query.force)
    await removed(service.id)
  },
})

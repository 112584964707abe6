import { defineEndpoint } from '#server/http/endpoint.ts'
import { hashesFor } from '#server/edge/columns.ts'
import { createService } from '#server/services/operations.ts'
import { ServiceInput } from '#server/services/input.ts'
import { Service } from '#server/services/schema.ts'
import { viewService } from '#server/services/view.ts'
import { useWorld } from '#daemon/index.ts'

export default defineEndpoint({
  summary: 'Create a service',
  description:
    'Queues a first deploy when the service has a repository or an image, unless `deploy` is false.',
  auth: 'token',
  least: 'full',
  within: 'environment',
  status: 201,
  body: ServiceInput,
  response: Service,
  errors: ['conflict'],
  async handler({ body }) {
    const service = createService(body, await hashesFor(body.basic_auth, null))
    // A data plane that does not answer gets the table once it is back.
    await useWorld()
      .dataPlane.sync()
      .catch(() => {})
    return viewService(service)
  },
})

import { defineEndpoint } from '#server/http/endpoint.ts'
import { createService } from '#server/services/operations.ts'
import { ServiceInput } from '#server/services/input.ts'
import { Service } from '#server/services/schema.ts'
import { viewService } from '#server/services/view.ts'

export default defineEndpoint({
  summary: 'Create a service',
  description:
    'Queues a first deploy when the service has a repository or an image, unless `deploy` is false.',
  auth: 'token',
  status: 201,
  body: ServiceInput,
  response: Service,
  errors: ['conflict'],
  handler: ({ body }) => viewService(createService(body)),
})

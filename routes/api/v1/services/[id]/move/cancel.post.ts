import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { cancelServiceMove } from '#server/moves/services.ts'
import { IdOrName } from '#server/schema.ts'
import { findService } from '#server/services/operations.ts'
import { Service } from '#server/services/schema.ts'
import { viewService } from '#server/services/view.ts'

export default defineEndpoint({
  summary: 'Cancel the move of a service',
  description: 'The service runs on where it was. A move that has succeeded is undone by another one.',
  auth: 'token',
  least: 'full',
  within: 'service',
  params: IdOrName,
  query: InEnvironment,
  response: Service,
  audit: 'service.move_canceled',
  errors: ['conflict'],
  handler: ({ params, query }) => viewService(cancelServiceMove(findService(params.id, query.environment))),
})

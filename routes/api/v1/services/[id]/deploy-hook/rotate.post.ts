import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { findService, rotateDeployHook } from '#server/services/operations.ts'
import { Service } from '#server/services/schema.ts'
import { viewService } from '#server/services/view.ts'

export default defineEndpoint({
  summary: 'Give the deploy hook a new key; the old URL stops working',
  auth: 'token',
  audit: 'service.deploy_hook_rotated',
  least: 'full',
  within: 'service',
  params: IdOrName,
  query: InEnvironment,
  response: Service,
  errors: ['conflict'],
  handler: ({ params, query }) => viewService(rotateDeployHook(findService(params.id, query.environment))),
})

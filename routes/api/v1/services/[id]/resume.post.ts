import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { findService, resumeService } from '#server/services/operations.ts'
import { Service } from '#server/services/schema.ts'
import { applied } from '#daemon/work/settled.ts'

export default defineEndpoint({
  summary: 'Start a suspended service again',
  description: 'The containers of the live deploy start; no deploy is created.',
  auth: 'token',
  least: 'full',
  within: 'service',
  params: IdOrName,
  query: InEnvironment,
  response: Service,
  errors: ['conflict', 'runtime_error'],
  handler: ({ params, query }) => applied(resumeService(findService(params.id, query.environment))),
})

import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { findService, scaleService } from '#server/services/operations.ts'
import { ScaleInput } from '#server/services/input.ts'
import { Service } from '#server/services/schema.ts'
import { applied } from '#daemon/work/settled.ts'

export default defineEndpoint({
  summary: 'Set how many instances of a service run',
  description:
    'Takes effect at once, without a deploy. With 0 no instance runs, and requests are answered with 503.',
  auth: 'token',
  least: 'full',
  within: 'service',
  params: IdOrName,
  query: InEnvironment,
  body: ScaleInput,
  response: Service,
  errors: ['conflict', 'runtime_error'],
  handler: ({ params, query, body }) =>
    applied(scaleService(findService(params.id, query.environment), body.instances)),
})

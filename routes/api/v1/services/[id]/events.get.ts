import { z } from 'zod'
import { AppError } from '#server/errors.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { IdOrName } from '#server/schema.ts'
import { ServiceEvent, ServiceEventQuery } from '#server/service-events/schema.ts'
import { listServiceEvents, serviceEventPlace } from '#server/service-events/store.ts'
import { viewServiceEvent } from '#server/service-events/view.ts'
import { findService } from '#server/services/operations.ts'

export default defineEndpoint({
  summary: 'List what happened to a service, newest first',
  description:
    'Its timeline: deploys, crashes, scaling, saved settings and more, for 90 days. When something is added, the change feed sends a change with the `service_id`, or one of the env group or the domain that it is about.',
  auth: 'token',
  least: 'read',
  within: 'service',
  params: IdOrName,
  query: ServiceEventQuery,
  response: z.array(ServiceEvent),
  handler({ params, query: { environment, before: id, type, limit } }) {
    const service = findService(params.id, environment)
    const before = id === undefined ? undefined : serviceEventPlace(service.id, id)
    if (id !== undefined && before === undefined)
      throw new AppError(
        'not_found',
        `service ${service.name} has no event ${id}: list them again without \`before\``,
      )
    return listServiceEvents(service.id, { type, before, limit }).map(viewServiceEvent)
  },
})

import { useMetrics } from '#daemon/index.ts'
import { findEnvironment } from '#server/environments/store.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { Overview } from '#server/overview/schema.ts'
import { viewOverview } from '#server/overview/view.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Read what the services and datastores of an environment do and use now',
  description:
    'With the requests of the last hour, memory against its limit and the latest deploy of each, in one answer.',
  auth: 'token',
  least: 'read',
  within: 'service',
  keptFrom: 'measurements',
  params: IdOrName,
  response: Overview,
  handler: ({ params }) => viewOverview([findEnvironment(params.id)], useMetrics().traffic()),
})

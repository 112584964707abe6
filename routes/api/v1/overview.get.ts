import { useMetrics } from '#daemon/index.ts'
import { listEnvironments } from '#server/environments/store.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { Overview } from '#server/overview/schema.ts'
import { viewOverview } from '#server/overview/view.ts'

export default defineEndpoint({
  summary: 'Read what the services and datastores of all environments do and use now',
  auth: 'token',
  least: 'read',
  within: 'service',
  keptFrom: 'measurements',
  response: Overview,
  handler: () => viewOverview(listEnvironments(), useMetrics().traffic()),
})

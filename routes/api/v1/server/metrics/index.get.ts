import { useMetrics } from '#daemon/index.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { CurrentMetrics } from '#server/metrics/schema.ts'

export default defineEndpoint({
  summary: 'Read what the host, containers and requests are doing now',
  auth: 'token',
  least: 'read',
  response: CurrentMetrics,
  handler: () => useMetrics().current(),
})

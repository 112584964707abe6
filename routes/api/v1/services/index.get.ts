import { z } from 'zod'
import { findEnvironment } from '#server/environments/store.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { Service } from '#server/services/schema.ts'
import { viewServices } from '#server/services/view.ts'

export default defineEndpoint({
  summary: 'List the services of an environment',
  auth: 'token',
  least: 'read',
  within: 'service',
  keptFrom: 'database',
  query: InEnvironment,
  response: z.array(Service),
  handler: ({ query }) => viewServices(findEnvironment(query.environment)),
})

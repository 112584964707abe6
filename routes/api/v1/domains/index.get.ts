import { z } from 'zod'
import { Domain } from '#server/domains/schema.ts'
import { listDomains } from '#server/domains/store.ts'
import { viewDomain } from '#server/domains/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'List the domains, the default first',
  auth: 'token',
  least: 'read',
  within: 'service',
  response: z.array(Domain),
  handler: () => listDomains().map(viewDomain),
})

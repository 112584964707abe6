import { useWorld } from '#daemon/index.ts'
import { routed } from '#daemon/proxy/routed.ts'
import { createDomain } from '#server/domains/operations.ts'
import { Domain, DomainInput } from '#server/domains/schema.ts'
import { isServed } from '#server/domains/store.ts'
import { viewDomain } from '#server/domains/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'

export default defineEndpoint({
  summary: 'Connect a domain',
  description:
    'Create the `records` it comes with; one wildcard record covers every service. It is checked every few seconds and is served once its names lead to the server. A local name is served at once.',
  auth: 'token',
  least: 'full',
  status: 201,
  body: DomainInput,
  response: Domain,
  errors: ['conflict', 'runtime_error'],
  async handler({ body }) {
    const domain = createDomain(body)
    if (isServed(domain)) await routed(useWorld())
    return viewDomain(domain)
  },
})

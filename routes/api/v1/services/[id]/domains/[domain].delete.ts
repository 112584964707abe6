import { useWorld } from '#daemon/index.ts'
import { routed } from '#daemon/proxy/routed.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { removeCustomDomain } from '#server/services/custom-domains.ts'
import { findService } from '#server/services/operations.ts'
import { CustomDomainRef } from '#server/services/input.ts'
import { CustomDomains } from '#server/services/schema.ts'

export default defineEndpoint({
  summary: 'Remove a custom domain from a service',
  description: 'The service stops being served there at once.',
  auth: 'token',
  least: 'full',
  within: 'service',
  params: CustomDomainRef,
  query: InEnvironment,
  response: CustomDomains,
  errors: ['conflict', 'runtime_error'],
  async handler({ params, query }) {
    const domains = removeCustomDomain(findService(params.id, query.environment), params.domain)
    await routed(useWorld())
    return domains
  },
})

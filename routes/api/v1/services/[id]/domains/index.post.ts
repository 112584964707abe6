import { useWorld } from '#daemon/index.ts'
import { routed } from '#daemon/proxy/routed.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { addCustomDomain } from '#server/services/custom-domains.ts'
import { findService } from '#server/services/operations.ts'
import { CustomDomainInput } from '#server/services/input.ts'
import { CustomDomains } from '#server/services/schema.ts'

export default defineEndpoint({
  summary: 'Add a custom domain to a service',
  description:
    'For web services and static sites. Point its DNS at the server; it gets its certificate soon after. Adding a domain again changes nothing.',
  auth: 'token',
  changes: (_, { domain }) => [`domain: ${domain}`],
  least: 'full',
  within: 'service',
  params: IdOrName,
  query: InEnvironment,
  body: CustomDomainInput,
  response: CustomDomains,
  errors: ['conflict', 'runtime_error'],
  async handler({ params, query, body }) {
    const domains = addCustomDomain(findService(params.id, query.environment), body.domain)
    await routed(useWorld())
    return domains
  },
})
